// A multipart body as an object: texts unchanged, files by name, type and length. A repeated name is a list.

interface ReceivedFile {
  readonly file_name: string;
  readonly type: string;
  readonly bytes: number;
}

/** Undefined where it is no form. */
export async function readReceivedForm(
  bytes: Buffer,
  contentType: string | undefined,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!/^multipart\/form-data/i.test(contentType ?? '')) return undefined;
  const answer = new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType ?? '' } });
  const form = await answer.formData().catch(() => undefined);
  if (form === undefined) return undefined;
  const names = [...new Set(form.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = form.getAll(name).map(shown);
      return [name.replace(/\[\]$/, ''), name.endsWith('[]') || values.length > 1 ? values : values[0]];
    }),
  );
}

const shown = (value: string | File): string | ReceivedFile =>
  typeof value === 'string' ? value : { file_name: value.name, type: value.type, bytes: value.size };
