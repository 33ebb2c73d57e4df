// Package uitest checks pages made with package ui: their texts here, and, with the
// build tag peers, how they look and behave in Debian's Chromium.
package uitest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"sort"
	"strings"
)

// CheckTexts compares the catalogues in folder i18n of files with each other: the
// same keys, the same {values}, nothing empty. It gives what is wrong.
func CheckTexts(files fs.FS) []string {
	var wrong []string
	names, err := fs.Glob(files, "i18n/*.js")
	if err != nil || len(names) < 2 {
		return []string{fmt.Sprintf("want catalogues of two languages at least in i18n/, have %v (%v)", names, err)}
	}
	base, err := texts(files, "i18n/en.js")
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range names {
		other, err := texts(files, name)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		for key, forms := range base {
			theirs, ok := other[key]
			switch {
			case !ok:
				wrong = append(wrong, fmt.Sprintf("%s: %q is missing", name, key))
			case values(forms) != values(theirs):
				wrong = append(wrong, fmt.Sprintf("%s: %q has the values %s, English has %s", name, key, values(theirs), values(forms)))
			}
		}
		for key, forms := range other {
			if _, ok := base[key]; !ok {
				wrong = append(wrong, fmt.Sprintf("%s: %q is not in English", name, key))
			}
			for _, f := range forms {
				if f == "" {
					wrong = append(wrong, fmt.Sprintf("%s: %q is empty", name, key))
				}
			}
		}
	}
	sort.Strings(wrong)
	return wrong
}

// UsedTexts compares the keys that scripts use with those that catalogues have, those of
// folders below, which pages fetch for themselves, among them.
// shared is the catalogue of the shelf, which pages use too. Keys put together by a
// script, as t('role.' + name), count as used when they begin like that.
func UsedTexts(files fs.FS, shared fs.FS) []string {
	have, err := texts(files, "i18n/en.js")
	if err != nil {
		return []string{err.Error()}
	}
	own, err := fs.Glob(files, "*/i18n/en.js")
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range own {
		more, err := texts(files, name)
		if err != nil {
			return []string{err.Error()}
		}
		maps.Copy(have, more)
	}
	known := map[string]bool{}
	if shared != nil {
		more, err := texts(shared, "i18n/en.js")
		if err != nil {
			return []string{err.Error()}
		}
		for key := range more {
			known[key] = true
		}
	}
	var wrong []string
	used, begun := map[string]bool{}, []string{}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".js" || path.Base(path.Dir(name)) == "i18n" || path.Base(path.Dir(name)) == "vendor" {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		for _, m := range called.FindAllStringSubmatch(string(data), -1) {
			if m[2] != "" {
				begun = append(begun, m[1])
				continue
			}
			used[m[1]] = true
			if _, ok := have[m[1]]; !ok && !known[m[1]] {
				wrong = append(wrong, fmt.Sprintf("%s: there is no text %q", name, m[1]))
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(string(data), -1) {
			used[m[1]] = true
		}
		return nil
	})
	if err != nil {
		return []string{err.Error()}
	}
	for key := range have {
		if !used[key] && !beginsWithAny(key, begun) {
			wrong = append(wrong, fmt.Sprintf("text %q is not used", key))
		}
	}
	sort.Strings(wrong)
	return wrong
}

var (
	called = regexp.MustCompile(`\bt\(\s*'([a-z0-9.]+)'( \+)?`)
	quoted = regexp.MustCompile(`['"]([a-z0-9]+(?:\.[a-z0-9]+)+)['"]`)
	goesOn = regexp.MustCompile(`" \+\n *"`)
	value  = regexp.MustCompile(`\{(\w+)\}`)
)

func beginsWithAny(key string, begun []string) bool {
	for _, b := range begun {
		if strings.HasPrefix(key, b) {
			return true
		}
	}
	return false
}

// texts reads a catalogue: a module whose only export is JSON, with one or two forms
// of each text; a long text may go on in the next line.
func texts(files fs.FS, name string) (map[string][]string, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	body, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "export default ")
	if !ok {
		return nil, fmt.Errorf("read texts of %s: want a module that begins with export default", name)
	}
	body = goesOn.ReplaceAllString(body, "")
	var raw map[string]any
	if err := json.Unmarshal([]byte(strings.TrimSuffix(body, ";")), &raw); err != nil {
		return nil, fmt.Errorf("read texts of %s: want JSON behind export default: %w", name, err)
	}
	out := map[string][]string{}
	for key, v := range raw {
		switch v := v.(type) {
		case string:
			out[key] = []string{v}
		case map[string]any:
			one, _ := v["one"].(string)
			other, _ := v["other"].(string)
			out[key] = []string{one, other}
		default:
			return nil, fmt.Errorf("read texts of %s: %q is %T, want a text or its forms", name, key, v)
		}
	}
	return out, nil
}

// values are the {names} in the last form of a text, which has all of them.
func values(forms []string) string {
	var names []string
	for _, m := range value.FindAllStringSubmatch(forms[len(forms)-1], -1) {
		names = append(names, m[1])
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}
