// Measures work by counting the steps over entries of lists, sets and maps, which no other process disturbs.

/** Counts until `end`, which returns the count. Code that runs in the meantime is slower. */
export function countIteratorSteps(): { readonly end: () => number } {
  let count = 0;
  const restores = [new Set([0]).values(), new Map([[0, 0]]).values(), [0].values()].map((iterator) => {
    const prototype = Object.getPrototypeOf(iterator);
    const { next } = prototype;
    prototype.next = function (this: unknown) {
      count += 1;
      return next.call(this);
    };
    return () => {
      prototype.next = next;
    };
  });
  return {
    end() {
      for (let at = 0; at < restores.length; at += 1) restores[at]?.();
      return count;
    },
  };
}
