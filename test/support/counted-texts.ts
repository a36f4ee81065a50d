// Texts of several kinds, with the number of tokens that OpenAI's tokenizers (o200k_base, cl100k_base) count: the
// larger number.
import { createHash } from 'node:crypto';

const times = (text: string, count: number): string => text.repeat(count);
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_one, index) => line(index)).join('\n');
const noise = (length: number): Buffer =>
  Buffer.concat(Array.from({ length: length / 32 }, (_one, index) => createHash('sha256').update(`${index}`).digest()));

export const countedTexts: Readonly<Record<string, { readonly text: string; readonly tokens: number }>> = {
  English: {
    text: times(
      'The quick brown fox jumps over the lazy dog, and nobody in the village had seen anything like it. ',
      20,
    ),
    tokens: 421,
  },
  German: {
    text: times('Donaudampfschifffahrtsgesellschaftskapitänsmütze ist ein Wort, und zwar ein langes. ', 10),
    tokens: 292,
  },
  Russian: {
    text: times('Сегодня хорошая погода, и мы пошли гулять в парк, где видели много красивых цветов. ', 10),
    tokens: 411,
  },
  Greek: { text: times('Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί. ', 10), tokens: 501 },
  Arabic: { text: times('الطقس جميل اليوم وذهبنا للتنزه في الحديقة. ', 10), tokens: 301 },
  Hindi: { text: times('आज मौसम अच्छा है और हम पार्क में टहलने गए। ', 10), tokens: 441 },
  Thai: { text: times('วันนี้อากาศดีมาก เราไปเดินเล่นในสวนสาธารณะ ', 10), tokens: 410 },
  Chinese: { text: times('今天天气很好，我们去公园散步，看到了很多美丽的花朵和快乐的孩子们。', 10), tokens: 430 },
  Japanese: { text: times('今日は天気が良いので、公園を散歩しました。カタカナも使います。', 10), tokens: 310 },
  Korean: { text: times('오늘은 날씨가 좋아서 공원에서 산책을 했습니다. ', 10), tokens: 291 },
  emoji: { text: times('👩‍🚀🚀🎉😀🏳️‍🌈', 20), tokens: 500 },
  code: {
    text: lines(
      60,
      (i) =>
        `${' '.repeat(4 * (i % 5))}if (values[${i}] !== undefined && isOpen(node.children)) return { kind: 'leaf', at: index + 1 };`,
    ),
    tokens: 1728,
  },
  JSON: {
    text: JSON.stringify(
      Array.from({ length: 60 }, (_one, id) => ({
        id,
        name: `user-${id}`,
        mail: `u${id}@example.com`,
        ok: id % 2 === 0,
      })),
    ),
    tokens: 1262,
  },
  'a log': {
    text: lines(50, (i) => `2026-11-23T08:${i}:12.${i}33Z INFO [pid ${i * 13}] GET /v1/models 200 ${i}ms`),
    tokens: 1639,
  },
  digits: { text: lines(200, (i) => String(1_000_000 + i * 7_919)), tokens: 799 },
  base64: { text: noise(960).toString('base64'), tokens: 918 },
  hexadecimal: { text: noise(640).toString('hex'), tokens: 726 },
  'capital letters': { text: times('ERROR_CODE_UNKNOWN_FAILURE ', 30), tokens: 121 },
};
