/**
 * The variables in an expression of Liquid: `a.b == "x" and c | append: d` names `a.b`, `c` and `d`. It is for
 * hints only: keys in brackets, what does not begin like a name, and what follows the first 2,000 characters of an
 * expression, without its quoted texts, are left out.
 */

const MAX_EXPRESSION_LENGTH = 2_000

const QUOTED = /"[^"]*"|'[^']*'/g
/** A name with its properties, or one other character. */
const TOKEN = /[\p{L}_][\p{L}\p{N}_.-]{0,199}|\S/gu
const NAME = /^[\p{L}_]/u
/** Words of the language; `reversed` and `continue` stand in loops. */
const WORDS = new Set([
  ...['true', 'false', 'nil', 'null', 'empty', 'blank'],
  ...['and', 'or', 'not', 'contains', 'in', 'reversed', 'continue'],
])
/** What stands before a property of brackets, a filter, and the end of a range. */
const BEFORE_OTHER = new Set(['.', '|', '@', '$', '%'])
/** Tags whose rest is an expression. */
const ASKING = new Set(['if', 'elsif', 'unless', 'case', 'when', 'echo', 'cycle'])

/** The keys of each variable, outermost first. */
export function listPaths(expression: string): string[][] {
  const unquoted = expression.replace(QUOTED, ' " ')
  const tokens = unquoted.slice(0, MAX_EXPRESSION_LENGTH).match(TOKEN) ?? []
  // Its end may be missing.
  if (unquoted.length > MAX_EXPRESSION_LENGTH) tokens.pop()
  const isVariable = (token: string, at: number) =>
    NAME.test(token) &&
    !WORDS.has(token) &&
    !BEFORE_OTHER.has(tokens[at - 1] ?? '') &&
    tokens[at + 1] !== ':'
  return tokens.filter(isVariable).map((token) => token.split('.'))
}

/** `content`: of `{% … %}`. */
export function listPathsOfTag(content: string): string[][] {
  const [name = ''] = /^\w+/.exec(content) ?? []
  const rest = content.slice(name.length)
  if (ASKING.has(name)) return listPaths(rest)
  if (name === 'for' || name === 'tablerow') return listPaths(after(rest, ' in '))
  return name === 'assign' ? listPaths(after(rest, '=')) : []
}

function after(text: string, mark: string): string {
  const at = text.indexOf(mark)
  return at === -1 ? '' : text.slice(at + mark.length)
}
