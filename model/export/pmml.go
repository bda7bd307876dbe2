package export

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/table"
)

// element is one of XML, with pairs of names and values of its attributes.
func element(name string, attributes []string, children ...string) string {
	var b bytes.Buffer
	b.WriteString("<" + name)
	for k := 0; k < len(attributes); k += 2 {
		b.WriteString(" " + attributes[k] + `="`)
		_ = xml.EscapeText(&b, []byte(attributes[k+1])) // memory takes everything
		b.WriteString(`"`)
	}
	if children == nil {
		return b.String() + "/>\n"
	}
	content := strings.Join(children, "")
	if strings.HasPrefix(content, "<") {
		content = "\n" + content
	}
	return b.String() + ">" + content + "</" + name + ">\n"
}

func apply(function string, of ...string) string {
	return element("Apply", []string{"function", function}, of...)
}

func field(name string) string { return element("FieldRef", []string{"field", name}) }

func constant(kind, text string) string {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	return `<Constant dataType="` + kind + `">` + text + "</Constant>\n"
}

// pmml is a document as it grows: fields of data, of the model, and what is derived of them.
type pmml struct {
	data, mining, derived []string
	program               *Program
	fill                  string // stands for a missing level
}

// writePMML writes a document of PMML 4.4 with one RegressionModel: columns are doubles, strings, and dates or times.
// Where a prediction refuses a row, its result is missing.
func writePMML(w io.Writer, p *Program, _ Options) error {
	if p.Link == Identity && len(p.Intercepts) > 1 {
		return errors.New("a regression model of PMML has one target; python, r, sql, go and onnx take several")
	}
	d := &pmml{program: p, fill: "(missing)"}
	var tables []string
	for _, in := range p.Inputs {
		for _, l := range in.Levels {
			if slices.Contains(l.Texts, d.fill) {
				d.fill += "*"
			}
		}
	}
	for _, in := range p.Inputs {
		d.add(in)
	}
	d.multiply()
	if p.Offset != "" {
		d.field(p.Offset, "double")
	}
	for k := range p.Intercepts {
		tables = append(tables, d.table(k, len(p.Intercepts)))
	}
	function, normalization := "regression", "none"
	target := []string{"name", p.Target, "optype", "continuous", "dataType", "double"}
	var labels []string
	switch p.Link {
	case Exp:
		normalization = "exp"
	case Logit, Softmax:
		function, normalization = "classification", "softmax"
		target = []string{"name", p.Target, "optype", "categorical", "dataType", "string"}
		labels = words.Each(p.Labels, func(label string) string { return element("Value", []string{"value", label}) })
		if p.Link == Logit { // the first one has the score 0
			tables = append([]string{element("RegressionTable", []string{"intercept", "0", "targetCategory", p.Labels[0]})},
				tables...)
		}
	}
	d.data = append(d.data, element("DataField", target, labels...))
	d.mining = append(d.mining, element("MiningField", []string{"name", p.Target, "usageType", "target"}))
	parts := []string{element("MiningSchema", nil, d.mining...), element("Output", nil, p.pmmlOutputs()...)}
	if d.derived != nil {
		parts = append(parts, element("LocalTransformations", nil, d.derived...))
	}
	_, err := io.WriteString(w, xml.Header+element("PMML", []string{"version", "4.4", "xmlns",
		"http://www.dmg.org/PMML-4_4"},
		element("Header", []string{"description", p.Title}, element("Application", []string{"name", "conetune"})),
		element("DataDictionary", nil, d.data...),
		element("RegressionModel", []string{"functionName", function, "normalizationMethod", normalization},
			append(parts, tables...)...)))
	return err
}

// field is a column of a type, some of whose values are missing.
func (d *pmml) field(name, kind string, missing ...string) {
	optype := "continuous"
	if kind == "string" {
		optype = "categorical"
	}
	values := words.Each(missing, func(text string) string {
		return element("Value", []string{"value", text, "property", "missing"})
	})
	d.data = append(d.data, element("DataField", []string{"name", name, "optype", optype, "dataType", kind}, values...))
	d.mining = append(d.mining, element("MiningField", []string{"name", name}))
}

// derive adds what is made of others.
func (d *pmml) derive(name, optype, kind, content string) {
	d.derived = append(d.derived, element("DerivedField", []string{"name", name, "optype", optype, "dataType", kind},
		content))
}

// add adds a column, and what is made of it, whose name has an ending.
func (d *pmml) add(in Input) {
	p, x, gone := d.program, field(in.Name), apply("isMissing", field(in.Name))
	derive := func(ending, optype, kind, content string) { d.derive(in.Name+ending, optype, kind, content) }
	switch in.Kind {
	case table.Category:
		d.field(in.Name, "string", slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Texts, p.Usual))))...)
		if !p.Reject {
			x = apply("if", gone, constant("string", d.fill), x)
		}
		derive(" filled", "categorical", "string", x)
		return
	case table.Date:
		d.field(in.Name, "string", p.Texts...)
		x = d.days(in, derive)
	default:
		d.field(in.Name, "double", words.Each(p.Numbers, number)...)
	}
	if !p.Reject {
		x = apply("if", gone, constant("double", number(in.Fill)), x)
		derive(" gone", "continuous", "double", apply("if", gone, constant("double", "1"), constant("double", "0")))
	}
	derive(map[bool]string{true: " plain", false: " filled"}[in.Others != nil], "continuous", "double", x)
}

// multiply derives what stands in the place of gaps by other columns, and products.
func (d *pmml) multiply() {
	derive := func(name, content string) { d.derive(name, "continuous", "double", content) }
	filled := func(k int) string { return field(d.program.Inputs[k].Name + " filled") }
	plain := func(k int) string {
		if d.program.Inputs[k].Others == nil {
			return filled(k)
		}
		return field(d.program.Inputs[k].Name + " plain")
	}
	for k, in := range d.program.Inputs {
		if in.Others != nil {
			sum := constant("double", number(in.Constant))
			for _, o := range in.Others {
				sum = apply("+", sum, apply("*", constant("double", number(o.Weights[0])), pmmlProduct(o, plain)))
			}
			if in.Kind == table.Date {
				day := constant("double", "86400")
				sum = apply("/", apply("floor", apply("+", apply("*", day, sum), constant("double", "0.5"))), day)
			}
			derive(in.Name+" filled", apply("if", apply("isMissing", field(in.Name)), sum, plain(k)))
		}
	}
	for k, in := range d.program.Inputs {
		if in.Kind != table.Category {
			derive(in.Name+" centred", apply("-", filled(k), constant("double", number(in.Fill))))
		}
	}
	for k, product := range d.program.Products {
		derive(d.program.pmmlName(k), pmmlProduct(product, filled))
	}
}

// pmmlName is the field of product k.
func (p *Program) pmmlName(k int) string { return p.free(fmt.Sprintf("product_%d", k+1)) }

// pmmlProduct is that of factors, of the values of inputs.
func pmmlProduct(p Product, value func(k int) string) string {
	out, one := "", func(v float64) string { return constant("double", number(v)) }
	times := func(x string) {
		if out != "" {
			x = apply("*", out, x)
		}
		out = x
	}
	truth := func(condition string) { times(apply("if", condition, one(1), one(0))) }
	for _, f := range p.Factors {
		x := value(f.Input)
		switch f.Function.Kind {
		case "":
			is := ""
			for _, text := range f.Level.Texts {
				same := apply("equal", x, constant("string", text))
				if is != "" {
					same = apply("or", is, same)
				}
				is = same
			}
			truth(is)
		case table.Weekday:
			day := apply("+", apply("floor", x), one(3))
			week := apply("*", one(7), apply("floor", apply("/", day, one(7))))
			truth(apply("equal", apply("-", day, week), one(f.Function.At)))
		case table.Sine, table.Cosine:
			name := map[string]string{table.Sine: "sin", table.Cosine: "cos"}[f.Function.Kind]
			turns := apply("/", x, one(f.Function.Scale))
			times(apply(name, apply("*", one(2*math.Pi), apply("-", turns, apply("floor", turns)))))
		default:
			u := apply("/", apply("-", x, one(f.Function.At)), one(f.Function.Scale))
			if f.Function.Kind == table.Ramp {
				if u = apply("max", u, one(0)); f.Function.Limit > 0 {
					u = apply("min", u, one(f.Function.Limit))
				}
			}
			for range f.Function.Power {
				times(u)
			}
		}
	}
	if out == "" {
		return one(1)
	}
	return out
}

// days are those of a text YYYY-MM-DD since 1970-01-01, as the calendar goes from March to February, with HH:MM:SS if
// the layout has a time of day. The functions of dates are not in all readers.
func (d *pmml) days(in Input, derive func(ending, optype, kind, content string)) string {
	whole := func(v string) string { return constant("double", v) }
	part := func(from, n string) string {
		text := apply("substring", field(in.Name+" date"), constant("integer", from), constant("integer", n))
		return apply("*", text, whole("1"))
	}
	floor := func(x, by string) string { return apply("floor", apply("/", x, whole(by))) }
	year, month := field(in.Name+" year"), field(in.Name+" month")
	early := func(yes, no string) string { return apply("if", apply("lessOrEqual", month, whole("2")), yes, no) }
	date := field(in.Name)
	if !d.program.Reject {
		date = apply("if", apply("isMissing", date), constant("string", "1970-01-01 00:00:00"), date)
	}
	derive(" date", "categorical", "string", date)
	derive(" month", "continuous", "double", part("6", "2"))
	derive(" year", "continuous", "double", apply("-", part("1", "4"), early(whole("1"), whole("0"))))
	sum := func(first string, more ...string) string {
		for _, term := range more {
			first = apply("+", first, term)
		}
		return first
	}
	since := apply("+", month, early(whole("9"), whole("-3")))
	days := sum(part("9", "2"), whole("-719469"), apply("*", whole("365"), year), floor(year, "4"), floor(year, "400"),
		floor(apply("+", apply("*", whole("153"), since), whole("2")), "5"), apply("*", whole("-1"), floor(year, "100")))
	if !in.Clock() {
		return days
	}
	seconds := sum(apply("*", whole("3600"), part("12", "2")), apply("*", whole("60"), part("15", "2")), part("18", "2"))
	return sum(days, apply("/", seconds, whole("86400")))
}

// table are the weights of score k of q.
func (d *pmml) table(k, q int) string {
	p := d.program
	attributes, terms := []string{"intercept", number(p.Intercepts[k])}, []string{}
	if p.Labels != nil && p.Link != Sign {
		attributes = append(attributes, "targetCategory", p.Labels[k+len(p.Labels)-q])
	}
	term := func(kind, name string, weight float64, value ...string) {
		if weight != 0 {
			terms = append(terms, element(kind, slices.Concat([]string{"name", name}, value, []string{"coefficient",
				number(weight)})))
		}
	}
	for _, in := range p.Inputs {
		if in.Kind == table.Category {
			for _, l := range in.Levels {
				for _, text := range l.Texts {
					term("CategoricalPredictor", in.Name+" filled", l.Weights[k], "value", text)
				}
			}
			term("CategoricalPredictor", in.Name+" filled", in.Gap[k], "value", d.fill)
			continue
		}
		term("NumericPredictor", in.Name+" centred", in.Weights[k])
		if !p.Reject {
			term("NumericPredictor", in.Name+" gone", in.Gap[k])
		}
	}
	for i, product := range p.Products {
		term("NumericPredictor", p.pmmlName(i), product.Weights[k])
	}
	if p.Offset != "" {
		term("NumericPredictor", p.Offset, 1)
	}
	slices.SortStableFunc(terms, func(a, b string) int { // numbers come first
		return strings.Compare(b[:len("<N")], a[:len("<N")])
	})
	return element("RegressionTable", attributes, terms...)
}

// pmmlOutputs are the prediction and the probabilities.
func (p *Program) pmmlOutputs() (list []string) {
	output := func(name, kind, feature string, more ...string) []string {
		name = p.free(name)
		optype := "continuous"
		if kind == "string" {
			optype = "categorical"
		}
		return append([]string{"name", name, "optype", optype, "dataType", kind, "feature", feature}, more...)
	}
	decided := func(of string, above float64, otherwise string) string {
		last := len(p.Labels) - 1
		return element("OutputField", output("prediction", "string", "transformedValue"), apply("if", apply("greaterThan",
			field(of), constant("double", number(above))), constant("string", p.Labels[last]), otherwise))
	}
	above := 0.0
	if p.Threshold != nil {
		above = *p.Threshold
	}
	switch {
	case p.Link == Sign:
		return []string{element("OutputField", output("score", "double", "predictedValue")),
			decided(p.free("score"), above, constant("string", p.Labels[0]))}
	case p.Labels == nil:
		return []string{element("OutputField", output("prediction", "double", "predictedValue"))}
	}
	for k, label := range p.Labels {
		list = append(list, element("OutputField", output(p.Outputs[k+1], "double", "probability", "value", label)))
	}
	if p.Threshold == nil {
		return append(list, element("OutputField", output("prediction", "string", "predictedValue")))
	}
	// Before the last label, the first of those that are not less probable than those that follow.
	last := len(p.Labels) - 1
	otherwise := constant("string", p.Labels[last-1])
	for k := last - 2; k >= 0; k-- {
		largest := []string{}
		for j := k + 1; j < last; j++ {
			largest = append(largest, apply("greaterOrEqual", field(p.free(p.Outputs[k+1])), field(p.free(p.Outputs[j+1]))))
		}
		condition := largest[0]
		if len(largest) > 1 {
			condition = apply("and", largest...)
		}
		otherwise = apply("if", condition, constant("string", p.Labels[k]), otherwise)
	}
	return append(list, decided(p.free(p.Outputs[last+1]), above, otherwise))
}
