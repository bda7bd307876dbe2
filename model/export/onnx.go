package export

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/conetune/conetune/table"
)

// The types of elements of tensors of ONNX.
const (
	onnxInt64  = 7
	onnxString = 8
	onnxDouble = 11
)

// graph is an ONNX graph as it grows: nodes, constants, inputs and outputs, as messages of onnx.proto.
type graph struct {
	nodes, constants, inputs, outputs []message
	names                             int
}

// name is a new one of a value.
func (g *graph) name() string {
	g.names++
	return fmt.Sprintf("conetune/%d", g.names)
}

// tensor is a constant of such dimensions.
func (g *graph) tensor(kind int64, content message, dims ...int) string {
	t := message{}
	for _, n := range dims {
		t = t.integer(1, int64(n))
	}
	name := g.name()
	g.constants = append(g.constants, append(t.integer(2, kind).text(8, name), content...))
	return name
}

func (g *graph) doubles(list []float64, dims ...int) string {
	return g.tensor(onnxDouble, message{}.numbers(9, list), dims...)
}

func (g *graph) strings(list []string) string {
	m := message{}
	for _, text := range list {
		m = m.text(6, text)
	}
	return g.tensor(onnxString, m, len(list))
}

func (g *graph) integers(list ...int64) string {
	return g.tensor(onnxInt64, message{}.numbers(9, list), len(list))
}

// node adds an operation and returns the name of its result.
func (g *graph) node(op, domain string, attributes []message, of ...string) string {
	m, out := message{}, g.name()
	for _, name := range of {
		m = m.text(1, name)
	}
	m = m.text(2, out).text(4, op).with(5, attributes...)
	if domain != "" {
		m = m.text(7, domain)
	}
	g.nodes = append(g.nodes, m)
	return out
}

// op is a node of the standard operations without attributes.
func (g *graph) op(op string, of ...string) string { return g.node(op, "", nil, of...) }

// attribute is an integer of a name.
func attribute(name string, v int64) message {
	return message{}.text(1, name).integer(3, v).integer(20, 2)
}

// value is an input or an output of N rows and n columns, or of N rows.
func value(name string, kind int64, n ...int64) message {
	shape := message{}.with(1, message{}.text(2, "N"))
	for _, v := range n {
		shape = shape.with(1, message{}.integer(1, v))
	}
	return message{}.text(1, name).with(2, message{}.with(1, message{}.integer(1, kind).with(2, shape)))
}

// writeONNX writes an ONNX model whose inputs are columns of the shape N x 1: doubles, with NaN for a missing value,
// for dates days since 1970-01-01, and for categories strings. The outputs are the prediction, N labels or N x 1 (or
// more) numbers, and probabilities of all labels. Where a prediction refuses a row its numbers are NaN.
func writeONNX(w io.Writer, p *Program, _ Options) error {
	g := &graph{}
	q := len(p.Intercepts)
	total := []string{}
	var numbers []string // columns of numbers without gaps
	var weights []float64
	column := func(in Input, kind int64) string {
		g.inputs = append(g.inputs, value(in.Name, kind, 1))
		return in.Name
	}
	plain, filled := make([]string, len(p.Inputs)), make([]string, len(p.Inputs))
	gaps := make([]string, len(p.Inputs))
	for k, in := range p.Inputs {
		if in.Kind == table.Category {
			plain[k] = column(in, onnxString)
			total = append(total, g.level(p, in, plain[k]))
			continue
		}
		x := column(in, onnxDouble)
		for _, v := range p.Numbers {
			x = g.op("Where", g.op("Equal", x, g.doubles([]float64{v}, 1)), g.doubles([]float64{math.NaN()}, 1), x)
		}
		if !p.Reject {
			gaps[k] = g.op("IsNaN", x)
			x = g.op("Where", gaps[k], g.doubles([]float64{in.Fill}, 1), x)
			total = append(total, g.op("Where", gaps[k], g.doubles(in.Gap, 1, q), g.doubles(make([]float64, q), 1, q)))
		}
		plain[k] = x
	}
	for k, in := range p.Inputs {
		if filled[k] = plain[k]; in.Others != nil {
			terms := []string{g.doubles([]float64{in.Constant}, 1)}
			for _, o := range in.Others {
				terms = append(terms, g.op("Mul", g.product(o, plain), g.doubles(o.Weights, 1)))
			}
			sum := g.op("Sum", terms...)
			if in.Kind == table.Date {
				day := g.doubles([]float64{86400}, 1)
				sum = g.op("Div", g.op("Floor", g.op("Add", g.op("Mul", day, sum), g.doubles([]float64{0.5}, 1))), day)
			}
			filled[k] = g.op("Where", gaps[k], sum, plain[k])
		}
		if in.Kind != table.Category {
			less := g.op("Sub", filled[k], g.doubles([]float64{in.Fill}, 1))
			numbers, weights = append(numbers, less), append(weights, in.Weights...)
		}
	}
	for _, product := range p.Products {
		numbers, weights = append(numbers, g.product(product, filled)), append(weights, product.Weights...)
	}
	if p.Offset != "" {
		numbers, weights = append(numbers, column(Input{Name: p.Offset}, onnxDouble)), append(weights, 1)
	}
	if numbers != nil {
		x := g.node("Concat", "", []message{attribute("axis", 1)}, numbers...)
		total = append(total, g.op("MatMul", x, g.doubles(weights, len(numbers), q)))
	}
	if len(total) == 0 {
		return fmt.Errorf("the model predicts a constant, and an ONNX model needs an input")
	}
	scores := g.op("Sum", append([]string{g.doubles(p.Intercepts, 1, q)}, total...)...)
	g.predict(p, scores, q)
	opsets := []message{message{}.text(1, "").integer(2, 13), message{}.text(1, "ai.onnx.ml").integer(2, 2)}
	m := message{}.with(1, g.nodes...).text(2, "conetune").with(5, g.constants...).with(11, g.inputs...).
		with(12, g.outputs...)
	_, err := w.Write(message{}.integer(1, 7).text(2, "conetune").text(6, p.Title).with(7, m).with(8, opsets...))
	return err
}

// product is that of factors, of the values of inputs, N x 1.
func (g *graph) product(p Product, values []string) string {
	out := g.doubles([]float64{1}, 1, 1)
	one := func(v float64) string { return g.doubles([]float64{v}, 1) }
	double := func(truth string) string { return g.node("Cast", "", []message{attribute("to", onnxDouble)}, truth) }
	for _, f := range p.Factors {
		x, at, scale := values[f.Input], f.Function.At, f.Function.Scale
		switch {
		case f.Level != nil:
			texts := f.Level.Texts
			out = g.op("Mul", out, double(g.encoder(texts, slices.Repeat([]int{1}, len(texts)), 0, x)))
		case f.Function.Kind == table.Weekday:
			day := g.op("Add", g.op("Floor", x), one(3))
			week := g.op("Mul", one(7), g.op("Floor", g.op("Div", day, one(7))))
			out = g.op("Mul", out, double(g.op("Equal", g.op("Sub", day, week), one(at))))
		case f.Function.Kind == table.Sine, f.Function.Kind == table.Cosine: // of which runtimes have the sine in doubles
			turns := g.op("Div", x, one(scale))
			angle := g.op("Mul", g.op("Sub", turns, g.op("Floor", turns)), one(2*math.Pi))
			if f.Function.Kind == table.Cosine {
				angle = g.op("Add", angle, one(math.Pi/2))
			}
			out = g.op("Mul", out, g.op("Sin", angle))
		default:
			u := g.op("Div", g.op("Sub", x, one(at)), one(scale))
			if f.Function.Kind == table.Ramp {
				if u = g.op("Max", u, one(0)); f.Function.Limit > 0 {
					u = g.op("Min", u, one(f.Function.Limit))
				}
			}
			for range f.Function.Power {
				out = g.op("Mul", out, u)
			}
		}
	}
	return out
}

// level are the N x q weights of the levels of a column of strings.
func (g *graph) level(p *Program, in Input, x string) string {
	q, rows := len(p.Intercepts), len(in.Levels)
	var texts []string
	var numbers []int
	weights := []float64{}
	for k, l := range in.Levels {
		weights, texts = append(weights, l.Weights...), append(texts, l.Texts...)
		numbers = append(numbers, slices.Repeat([]int{k}, len(l.Texts))...)
	}
	for k := range q { // of a missing value
		weights = append(weights, in.Gap[k])
		if p.Reject {
			weights[len(weights)-1] = math.NaN()
		}
	}
	weights = append(weights, make([]float64, q)...)
	known := map[string]bool{}
	for _, text := range slices.Concat(p.Texts, p.Usual) {
		if !known[text] {
			known[text], texts, numbers = true, append(texts, text), append(numbers, rows)
		}
	}
	flat := g.op("Reshape", g.encoder(texts, numbers, rows+1, x), g.integers(-1))
	return g.op("Gather", g.doubles(weights, rows+2, q), flat)
}

// encoder are the numbers of texts, and another one for what is none of them.
func (g *graph) encoder(texts []string, numbers []int, otherwise int, x string) string {
	keys, values := []message{}, message{}
	for k, text := range texts {
		keys, values = append(keys, message(text)), append(values, message{}.integer(8, int64(numbers[k]))...)
	}
	return g.node("LabelEncoder", "ai.onnx.ml", []message{
		message{}.text(1, "keys_strings").with(9, keys...).integer(20, 8),
		append(message{}.text(1, "values_int64s").integer(20, 7), values...),
		attribute("default_int64", int64(otherwise)),
	}, x)
}

// predict adds the outputs.
func (g *graph) predict(p *Program, scores string, q int) {
	output := func(from, name string, kind int64, n ...int64) {
		name = p.free(name)
		g.nodes = append(g.nodes, message{}.text(1, from).text(2, name).text(4, "Identity"))
		g.outputs = append(g.outputs, value(name, kind, n...))
	}
	label := func(index string) {
		output(g.op("Gather", g.strings(p.Labels), g.op("Reshape", index, g.integers(-1))), "prediction", onnxString)
	}
	largest := func(of string) string {
		return g.node("ArgMax", "", []message{attribute("axis", 1), attribute("keepdims", 1)}, of)
	}
	integer := func(truth string) string { return g.node("Cast", "", []message{attribute("to", onnxInt64)}, truth) }
	threshold := func(otherwise float64) string {
		if p.Threshold != nil {
			otherwise = *p.Threshold
		}
		return g.doubles([]float64{otherwise}, 1)
	}
	switch p.Link {
	case Identity:
		output(scores, "prediction", onnxDouble, int64(q))
	case Exp:
		output(g.op("Exp", scores), "prediction", onnxDouble, 1)
	case Sign:
		label(integer(g.op("Greater", scores, threshold(0))))
	case Logit:
		one := g.doubles([]float64{1}, 1)
		odds := func(v string) string { return g.op("Div", one, g.op("Add", one, g.op("Exp", v))) }
		chance := odds(g.op("Neg", scores))
		compared := scores
		if p.Threshold != nil {
			compared = chance
		}
		label(integer(g.op("Greater", compared, threshold(0))))
		chances := g.node("Concat", "", []message{attribute("axis", 1)}, odds(scores), chance)
		output(chances, "probabilities", onnxDouble, 2)
	case Softmax:
		chances := g.node("Softmax", "", []message{attribute("axis", 1)}, scores)
		best := largest(scores)
		if p.Threshold != nil {
			last := int64(q - 1)
			others := g.op("Slice", scores, g.integers(0), g.integers(last), g.integers(1))
			called := g.op("Greater", g.op("Slice", chances, g.integers(last), g.integers(last+1), g.integers(1)), threshold(0))
			best = g.op("Where", called, g.integers(last), largest(others))
		}
		label(best)
		output(chances, "probabilities", onnxDouble, int64(q))
	}
}
