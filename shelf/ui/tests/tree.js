// tree draws components into plain text, for tests that ask what is shown: elements and components by name, with what they
// are given, and texts. Components that keep a state are not drawn further.
const called = (type) => (typeof type === 'function' ? type.name || 'Fragment' : type);

// nodes lists all there is below what a component gives; components whose names are in draw are drawn themselves.
export function nodes(of, draw = []) {
  if (of == null || typeof of === 'boolean') return [];
  if (Array.isArray(of)) return of.flatMap((one) => nodes(one, draw));
  if (typeof of !== 'object') return [String(of)];
  if (!of.type) return [String(of.value ?? of)];
  const inner = draw.includes(called(of.type)) ? of.type(of.props) : of.props.children;
  return [{ is: called(of.type), ...of.props }, ...nodes(inner, draw)];
}

// find gives the first element or component of a name, with what it was given.
export const find = (of, name, draw) => nodes(of, draw).find((n) => n.is === name);
