package ui

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// entry is the module that the shell loads. It and all modules that it imports are sent as one, since a phone in a cellar waits
// for each request: every module is a function that is called, after those that it imports, and modules$ has what they export.
// Modules that are fetched later take it from there.
const entry = "app/app.js"

var (
	// imports finds what a module always loads: the default's name, names in braces, the module. import(…) is loaded when needed.
	imports = regexp.MustCompile(`\bimport\s*(?:(\w+)\s*,?\s*)?(?:\{([^}]*)\})?\s*(?:from\s*)?["'](\.{1,2}/[^"']+)["'];?`)
	// passes finds lists of what a module exports, and of what it passes on of another module.
	passes = regexp.MustCompile(`\bexport\s*\{([^}]*)\}(?:\s*from\s*["'](\.{1,2}/[^"']+)["'])?;?`)
	// declares finds what is exported where it is made, and defaults what is so without a name or with one.
	declares = regexp.MustCompile(`\bexport ((?:async function|function|class|const|let) +)(\w+)`)
	defaults = regexp.MustCompile(`\bexport default ((?:async function|function|class) +(\w+))?`)
	// later finds what is fetched when it is needed: the address may end in a variable.
	later = regexp.MustCompile("\\bimport\\((['\"`])(\\.{1,2}/[^'\"`$]*)")
)

// needs lists the modules that a module always loads.
func needs(name string, text []byte) (list []string) {
	for _, m := range imports.FindAllSubmatch(text, -1) {
		list = append(list, path.Join(path.Dir(name), string(m[3])))
	}
	for _, m := range passes.FindAllSubmatch(text, -1) {
		if len(m[2]) > 0 {
			list = append(list, path.Join(path.Dir(name), string(m[2])))
		}
	}
	return list
}

// together lists the modules that are sent as one, each after those that it needs.
func (p *Pages) together() (list []string) {
	seen := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		f := p.files[name]
		if seen[name] || f == nil {
			return
		}
		seen[name] = true
		for _, m := range needs(name, f.source()) {
			follow(m)
		}
		list = append(list, name)
	}
	follow(entry)
	return list
}

// pack makes the one module of them.
func (p *Pages) pack() []byte {
	var b bytes.Buffer
	b.WriteString("const modules$={};\n")
	for _, name := range p.packed() {
		body, exports := p.within(name)
		fmt.Fprintf(&b, "await(async()=>{ // %s\nmodules$[%q]={%s};\n%s\n})();\n", name, name, strings.Join(exports, ","), body)
	}
	b.WriteString("export{modules$};\n")
	return b.Bytes()
}

// changing finds what a module exports and gives another value later.
var changing = regexp.MustCompile(`(?m)^export let (\w+)`)

// within is a module among those that are sent as one, and what it exports: as it is when somebody looks.
func (p *Pages) within(name string) (body []byte, exports []string) {
	export := func(as, what string) { exports = append(exports, fmt.Sprintf("get %s(){return %s}", as, what)) }
	body = replaced(imports, p.files[name].source(), func(m []string) string {
		if of := p.files[path.Join(path.Dir(name), m[3])]; of != nil {
			for _, c := range changing.FindAllSubmatch(of.source(), -1) {
				for what := range pairs(m[2]) {
					if what == string(c[1]) {
						panic(fmt.Sprintf("%s takes %s of %s before that has its value", name, what, m[3])) // tests of every program see it
					}
				}
			}
		}
		return taken(name, m)
	})
	body = replaced(passes, body, func(m []string) string {
		for what, as := range pairs(m[1]) {
			if m[2] != "" {
				what = fmt.Sprintf("modules$[%q].%s", path.Join(path.Dir(name), m[2]), what)
			}
			export(as, what)
		}
		return ""
	})
	body = replaced(declares, body, func(m []string) string {
		export(m[2], m[2])
		return m[1] + m[2]
	})
	body = replaced(defaults, body, func(m []string) string {
		if m[2] != "" {
			export("default", m[2])
			return m[1]
		}
		export("default", "default$")
		return "const default$=" + m[1]
	})
	body = replaced(later, body, func(m []string) string {
		dir, file := path.Split(m[2])
		return "import(" + m[1] + "../" + path.Join(path.Dir(name), dir) + "/" + file
	})
	return bytes.ReplaceAll(body, []byte("import.meta.url"), fmt.Appendf(nil, "new URL(%q,import.meta.url)", "../"+name)), exports
}

// alone is a module that is fetched later.
func (p *Pages) alone(name string) []byte {
	brought := ""
	text := replaced(imports, p.files[name].source(), func(m []string) string {
		if !slices.Contains(p.packed(), path.Join(path.Dir(name), m[3])) {
			return m[0]
		}
		brought = fmt.Sprintf("import{modules$}from%q;", strings.Repeat("../", strings.Count(name, "/"))+entry)
		return taken(name, m)
	})
	return append([]byte(brought), text...)
}

// taken is an import of module name from the modules that are sent as one; m is what imports found.
func taken(name string, m []string) string {
	var list []string
	if m[1] != "" {
		list = append(list, "default:"+m[1])
	}
	for what, as := range pairs(m[2]) {
		list = append(list, what+":"+as)
	}
	if list == nil {
		return ""
	}
	return fmt.Sprintf("const{%s}=modules$[%q];", strings.Join(list, ","), path.Join(path.Dir(name), m[3]))
}

// pairs gives what stands in the braces of an import or export, in order: what it is there, and what it is called.
func pairs(list string) func(yield func(what, as string) bool) {
	return func(yield func(what, as string) bool) {
		for one := range strings.SplitSeq(list, ",") {
			what, as, other := strings.Cut(strings.TrimSpace(one), " as ")
			if !other {
				as = what
			}
			if what != "" && !yield(what, as) {
				return
			}
		}
	}
}

// replaced is text with what of finds put otherwise.
func replaced(of *regexp.Regexp, text []byte, otherwise func(m []string) string) []byte {
	var out []byte
	end := 0
	for _, at := range of.FindAllSubmatchIndex(text, -1) {
		m := make([]string, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = string(text[at[2*i]:at[2*i+1]])
			}
		}
		out = append(append(out, text[end:at[0]]...), otherwise(m)...)
		end = at[1]
	}
	return append(out, text[end:]...)
}
