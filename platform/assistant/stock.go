package assistant

import "svc.internal/controller/platform/understand"

// compareStock counts things of a kind in each of the places that were mentioned.
func (a *asked) compareStock() answer {
	kind := deviceKind(a.q.Kind)
	groups := a.q.Mentioned()
	if kind == "" || len(groups) < 2 {
		return answer{text: a.f("I understood the question, but cannot answer it with %s. Ask it without, or one thing at a time.", "“"+a.f(opWords[understand.Compare])+"”")}
	}
	var lines []string
	counts := map[string]int{}
	for _, places := range groups {
		scope := a.scopeIn(places)
		n := len(a.site.In(scope, kind))
		counts[scope.Label] = n
		lines = append(lines, a.f("%s has %s", scope.Label, a.count(n, string(a.q.Kind))))
	}
	return answer{upper(a.list(lines)) + ".", counts}
}
