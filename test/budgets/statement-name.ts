/** `INSERT INTO "emails" (…) …` is `insert emails`: a name that lives longer than the text of a statement. */
export function statementName(text: string): string {
  const plain = text
    .replaceAll(/["`\s]+/g, ' ')
    .trim()
    .toLowerCase()
  const [, verb = '', table = ''] =
    /\b(insert)(?: or \w+)? into (\w+)/.exec(plain) ??
    /\b(delete) from (\w+)/.exec(plain) ??
    /^(?:with .*?\) )?(update)(?: or \w+)? (\w+)/.exec(plain) ??
    /\b(select) .*? ?\bfrom (\w+)/.exec(plain) ??
    []
  return verb === '' ? plain.split(' ').slice(0, 3).join(' ') : `${verb} ${table}`
}
