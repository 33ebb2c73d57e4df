// Something that is asked of the server once, and again when one says so.
import { useEffect, useState } from '../ui/lib.js';
import { server } from './house.js';

/** @import { Got } from '../records' */
/** @import { Problem } from '../ui/api.js' */

/**
 * @template {keyof Got} P
 * @param {P | `${P}?${string}`} path
 * @returns {{ data?: Got[P], wrong?: Problem, again: () => void }}
 */
export function useServer(path) {
  const [state, setState] = useState(/** @type {{ data?: Got[P], wrong?: Problem }} */ ({}));
  const [again, setAgain] = useState(0);
  useEffect(() => {
    let here = true;
    server.get(path).then(
      (data) => here && setState({ data }),
      (wrong) => here && setState((old) => ({ ...old, wrong })),
    );
    return () => {
      here = false;
    };
  }, [path, again]);
  return { ...state, again: () => setAgain((n) => n + 1) };
}
