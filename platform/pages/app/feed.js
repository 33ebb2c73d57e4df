// Answers that come bit by bit, as events.

// events reads a streamed answer: f(event, data) for each, until it ends or signal stops it.
/**
 * @param {Response} answer
 * @param {(event: string, data: any) => void} f
 * @param {AbortSignal} [signal]
 */
export async function events(answer, f, signal) {
  const reader = answer.body.pipeThrough(new TextDecoderStream(), { signal }).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const event = /^event: (.*)$/m.exec(part),
        data = /^data: (.*)$/m.exec(part);
      if (event && data) f(event[1], JSON.parse(data[1]));
    }
  }
}

// feed is a kind of EventSource that proves who asks in headers: what is in an address stands in the logs of proxies.
export const feed = (headers) =>
  class extends EventTarget {
    onerror = null;
    #end = new AbortController();

    constructor(url) {
      super();
      this.#read(url)
        .catch(() => {})
        .finally(() => this.#end.signal.aborted || this.onerror?.());
    }

    async #read(url) {
      const answer = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers() }, signal: this.#end.signal });
      if (!answer.ok) return;
      await events(answer, (name, data) => {
        if (!this.#end.signal.aborted) this.dispatchEvent(Object.assign(new Event(name), { data: JSON.stringify(data) }));
      });
    }

    close() {
      this.#end.abort();
    }
  };
