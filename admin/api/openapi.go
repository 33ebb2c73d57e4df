package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/web"
)

// openAPI serves the description of this door. It tells nothing about the building.
func (a *API) openAPI(c echo.Context) error {
	body, err := a.describe()
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h["Content-Type"] = web.JSONType
	h.Set("Cache-Control", "no-cache")
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	_, err = c.Response().Write(body)
	return err
}

// object is a part of the description.
type object map[string]any

// describe makes the description from the table of routes.
func (a *API) describe() ([]byte, error) {
	d := describer{schemas: object{}}
	paths := map[string]object{}
	for _, r := range a.routes() {
		path := prefix + parameter.ReplaceAllString(r.path, "/{$1}")
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path][strings.ToLower(r.method)] = d.operation(r)
	}
	d.of(reflect.TypeFor[Problem]())
	for _, event := range []any{Change{}, Tick{}, Lost{}, PortList{}, Found{}, PortAnswer{}, ServiceStep{}, GroupStep{}, MeasuredLeg{}} {
		d.of(reflect.TypeOf(event))
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Controller internal API", "version": "1",
			"description": "For the controller's own pages and for programs that set up and run the building. " +
				"Integrations that read and command use the public API, /svc/api; neither takes the other's tokens. Errors are problem details (RFC 9457).",
		},
		"tags":  []object{{"name": "internal-api", "description": "/api/v1"}},
		"paths": paths,
		"components": object{
			"schemas": d.schemas,
			"securitySchemes": object{
				"bearer": object{"type": "http", "scheme": "bearer"},
				"cookie": object{"type": "apiKey", "in": "cookie", "name": cookieName},
			},
		},
	})
}

var parameter = regexp.MustCompile(`/:([a-z]+)`)

// describer gathers the schemas of the types that routes mention.
type describer struct{ schemas object }

func (d describer) operation(r route) object {
	op := object{
		"tags": []string{"internal-api"}, "summary": r.about,
		"description": "For " + permissionWords[r.needs] + ".",
		"operationId": strings.ToLower(r.method) + strings.NewReplacer("/", "_", ":", "", ".", "_", "-", "_").Replace(r.path),
	}
	if r.needs != anyone {
		op["security"] = []object{{"bearer": []string{}}, {"cookie": []string{}}}
	}
	var params []object
	for _, m := range parameter.FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, q := range r.query {
		params = append(params, object{"name": q.name, "in": "query", "description": q.about, "schema": object{"type": "string"}})
	}
	if params != nil {
		op["parameters"] = params
	}
	if r.in != nil {
		op["requestBody"] = object{"required": true, "content": d.content(r.in, "application/json")}
	}
	success := object{"description": http.StatusText(r.status)}
	if r.out != nil {
		kind := "application/json"
		if strings.HasSuffix(r.path, "/events") || strings.HasSuffix(r.path, "/monitor") {
			kind = "text/event-stream"
		}
		success["content"] = d.content(r.out, kind)
	}
	op["responses"] = object{
		status(r.status): success,
		"default": object{"description": "An error", "content": object{
			"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}},
	}
	return op
}

// content describes a body: a file by its own kind, everything else by its type.
func (d describer) content(body any, kind string) object {
	switch b := body.(type) {
	case file:
		schema := object{"type": "string"}
		if !strings.HasPrefix(string(b), "text/") && b != "application/yaml" {
			schema["format"] = "binary"
		}
		return object{string(b): object{"schema": schema}}
	case either:
		all := object{}
		for _, one := range b {
			maps.Copy(all, d.content(one, kind))
		}
		return all
	}
	return object{kind: object{"schema": d.of(reflect.TypeOf(body))}}
}

func status(code int) string {
	return string([]byte{byte('0' + code/100), byte('0' + code/10%10), byte('0' + code%10)})
}

// of describes a type; structs with a name are described once.
func (d describer) of(t reflect.Type) object {
	if t == reflect.TypeFor[json.RawMessage]() {
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []object{d.of(t.Elem()), {"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": d.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.of(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return object{"type": "string", "format": "date-time"}
		}
		return d.structure(t)
	}
	return object{"type": "integer"}
}

var notWord = regexp.MustCompile(`[^A-Za-z]+`)

func (d describer) structure(t reflect.Type) object {
	name := notWord.ReplaceAllString(strings.NewReplacer("svc.internal/controller/admin/api.", "").Replace(t.Name()), "")
	ref := object{"$ref": "#/components/schemas/" + name}
	if _, known := d.schemas[name]; known {
		return ref
	}
	properties, required := object{}, []string{}
	d.schemas[name] = nil // it may mention itself
	d.fields(t, properties, &required)
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	d.schemas[name] = schema
	return ref
}

func (d describer) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			d.fields(f.Type, properties, required)
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		schema := d.of(f.Type)
		if words := f.Tag.Get("enum"); words != "" {
			schema["enum"] = strings.Split(words, ",")
		}
		if about := f.Tag.Get("doc"); about != "" {
			schema["description"] = about
		}
		properties[name] = schema
		if !strings.Contains(option, "omitempty") {
			*required = append(*required, name)
		}
	}
}
