package voice

import "strconv"

var units = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19,
}

var tens = map[string]int{
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}

// isAmountWord reports whether a word begins a number or is a part: what "two" before it can only mean "to".
func isAmountWord(w string) bool {
	if _, ok := tens[w]; ok {
		return true
	}
	if n, ok := units[w]; ok {
		return n >= 10 || n == 0
	}
	switch w {
	case "half", "quarter", "full", "max", "maximum", "minimum":
		return true
	}
	_, err := strconv.Atoi(w)
	return err == nil
}

// number reads a number from 0 to 999 in figures or words at the start of words and says how many words it took; 0 words:
// there is none. What is no whole number, or larger than 99,999, is read as one that no percentage can be.
func number(words []string) (n, took int) {
	w := words[0]
	next := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	if w[0] >= '0' && w[0] <= '9' {
		n, err := strconv.Atoi(w)
		if err != nil || n > 99_999 {
			return 99_999, 1
		}
		return n, 1
	}
	if w == "hundred" || w == "a" && next(1) == "hundred" {
		took = 1
		if w == "a" {
			took = 2
		}
		rest, more := belowHundred(skipAnd(words[took:]))
		if more > 0 {
			return 100 + rest, len(words) - len(skipAnd(words[took:])) + more
		}
		return 100, took
	}
	n, took = belowHundred(words)
	if took == 0 {
		return 0, 0
	}
	if next(took) == "hundred" {
		n, took = n*100, took+1
		tail := skipAnd(words[took:])
		if rest, more := belowHundred(tail); more > 0 {
			return n + rest, len(words) - len(tail) + more
		}
	}
	return n, took
}

func skipAnd(words []string) []string {
	if len(words) > 1 && words[0] == "and" {
		return words[1:]
	}
	return words
}

func belowHundred(words []string) (n, took int) {
	if len(words) == 0 {
		return 0, 0
	}
	if t, ok := tens[words[0]]; ok {
		if len(words) > 1 {
			if u, ok := units[words[1]]; ok && u > 0 && u < 10 {
				return t + u, 2
			}
		}
		return t, 1
	}
	if u, ok := units[words[0]]; ok {
		return u, 1
	}
	return 0, 0
}

// part reads a fraction or an extreme at the start of words.
func part(words []string) (cls string, n, took int) {
	next := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	i := 0
	count := 1
	switch words[0] {
	case "a", "one", "1":
		i = 1
	case "two", "2":
		i, count = 1, 2
	case "three", "3":
		i, count = 1, 3
	}
	switch w := next(i); {
	case w == "third" && count == 1, w == "thirds" && count == 1 && i == 0:
		return "third", 1, i + 1
	case (w == "thirds" || w == "third") && count == 2:
		return "third", 2, i + 1
	case w == "quarter" && count == 1:
		return "part", 25, i + 1
	case (w == "quarters" || w == "quarter") && count == 3:
		return "part", 75, i + 1
	case (w == "half" || w == "halfway" || w == "midway") && count == 1 && words[0] != "1":
		took = i + 1
		if next(took) == "way" {
			took++
		}
		return "part", 50, took
	}
	switch words[0] {
	case "twothirds":
		return "third", 2, 1
	case "threequarters":
		return "part", 75, 1
	case "full", "max", "maximum", "highest", "brightest", "top":
		return "max", 100, 1
	case "min", "minimum", "lowest", "dimmest":
		return "min", 1, 1
	}
	return "", 0, 0
}
