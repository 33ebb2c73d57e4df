// Something that is asked of the server once, and again when one says so.
import { useEffect, useState } from '../ui/lib.js';
import { ask } from './session.js';

/** @import { Problem } from '../ui/api.js' */

/**
 * @param {string} path
 * @returns {{ data?: any, wrong?: Problem, again: () => void }}
 */
export function useServer(path) {
  const [state, setState] = useState({});
  const [again, setAgain] = useState(0);
  useEffect(() => {
    let here = true;
    ask('GET', path).then(
      (data) => here && setState({ data }),
      (wrong) => here && setState((old) => ({ ...old, wrong })),
    );
    return () => {
      here = false;
    };
  }, [path, again]);
  return { ...state, again: () => setAgain((n) => n + 1) };
}
