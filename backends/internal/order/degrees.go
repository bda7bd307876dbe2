package order

// degreeQueue holds variables by degree, in one doubly linked list a degree. The
// last one inserted is the first one out.
type degreeQueue struct {
	head, next, prev, key []int32
	lowest                int // no variable has a smaller degree
}

// reset empties the queue.
func (q *degreeQueue) reset() {
	for i := range q.head {
		q.head[i] = -1
	}
	q.lowest = 0
}

func (q *degreeQueue) insert(i int32, degree int) {
	h := q.head[degree]
	q.next[i], q.prev[i], q.key[i] = h, -1, int32(degree)
	if h >= 0 {
		q.prev[h] = i
	}
	q.head[degree] = i
	q.lowest = min(q.lowest, degree)
}

func (q *degreeQueue) remove(i int32) {
	next, prev := q.next[i], q.prev[i]
	if next >= 0 {
		q.prev[next] = prev
	}
	if prev >= 0 {
		q.next[prev] = next
	} else {
		q.head[q.key[i]] = next
	}
}

// pop removes a variable of least degree and returns both, or -1 and -1 from an
// empty queue.
func (q *degreeQueue) pop() (i int32, degree int) {
	for ; q.lowest < len(q.head); q.lowest++ {
		if i := q.head[q.lowest]; i >= 0 {
			q.remove(i)
			return i, q.lowest
		}
	}
	return -1, -1
}
