import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { formatReference, parseTemplate } from '../../../shared/configuration/stored-functions/index.ts';

describe('templates', () => {
  it('are text and references in their order', () => {
    expect(parseTemplate('a {{input}} b {{steps.s-1.output.x.0}}')).toEqual({
      ok: true,
      parts: ['a ', { source: 'input', path: [] }, ' b ', { source: 'step', step: 's-1', path: ['x', '0'] }],
    });
  });

  it('without double braces are themselves', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => !text.includes('{{')),
        (text) => expect(parseTemplate(text)).toEqual({ ok: true, parts: [text] }),
      ),
    );
  });

  it.each(['{{input}}', '{{input.a.b}}', '{{steps.s.output}}', '{{steps.s.output.a}}'])(
    'are written as they are read: %s',
    (text) => {
      const template = parseTemplate(text);
      const parts = template.ok ? template.parts : [];
      expect(parts.map((part) => (typeof part === 'string' ? part : formatReference(part)))).toEqual([text]);
    },
  );
});
