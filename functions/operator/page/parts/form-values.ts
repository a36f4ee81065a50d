// What stands in the fields of a form.

export function formValues(form: HTMLFormElement) {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '').trim();
  return {
    has: (name: string) => data.has(name),
    text,
    /** Null: the field is empty. */
    number: (name: string) => (text(name) === '' ? null : Number(text(name))),
    /** What stands between commas. */
    list: (name: string) =>
      text(name)
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
  };
}
