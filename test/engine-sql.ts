/**
 * Finds SQL that only one database engine understands, as a check over source texts. Such SQL stands
 * in `store/dialect.ts` or in a file `*.sqlite.ts` beside its verb.
 */
import type { Sources } from './architecture-rules.ts'

/** The end of a piece of SQL at which an interpolated value follows. */
const VALUE = '\u0000'

const ENGINE_SQL: Record<string, RegExp> = {
  json_each: /\bjson_each\b/i,
  json_extract: /\bjson_extract\b/i,
  'another JSON function': /\bjson_(?!each\b|extract\b)\w+\s*\(/i,
  '->>': /->/,
  'indexed by': /\bindexed\b/i,
  rowid: /\browid\b/i,
  match: /\bmatch\b/i,
  glob: /\bglob\b/i,
  instr: /\binstr\b/i,
  octet_length: /\boctet_length\b/i,
  'cross join': /\bcross\s+join\b/i,
  'max or min of two values': /\b(?:max|min)\((?:[^()]|\([^()]*\))*,/i,
  'limit -1': /\blimit\s+-/i,
  'iif or ifnull': /\b(?:iif|ifnull)\s*\(/i,
  'a unary plus': new RegExp(`(?:^|[\\s(,])\\+(?=[\\w"(]|${VALUE})`),
}

/** Every place as one line, sorted; none is right. */
export function findEngineSql(sources: Sources): string[] {
  const lines: string[] = []
  for (const [file, text] of sources) {
    if (file === 'store/dialect.ts' || file.endsWith('.sqlite.ts')) continue
    const pieces = listSql(text)
    for (const [name, pattern] of Object.entries(ENGINE_SQL)) {
      if (pieces.some((piece) => pattern.test(piece))) lines.push(`${file} has ${name} in its SQL`)
    }
  }
  return lines.sort()
}

/** The texts of all templates tagged `sql` and of all arguments of `sql.raw`. */
export function listSql(text: string): string[] {
  const found: string[] = []
  readCode(text, 0, found)
  return found
}

/** Reads code up to the brace that closes it, or to the end; returns the index behind it. */
function readCode(text: string, start: number, found: string[]): number {
  let depth = 0
  let at = start
  while (at < text.length) {
    const char = text[at]
    if (char === '/' && text[at + 1] === '/') at = endOf(text, '\n', at)
    else if (char === '/' && text[at + 1] === '*') at = endOf(text, '*/', at + 2)
    else if (char === '/' && isRegexPlace(text, at)) at = skipRegex(text, at)
    else if (char === "'" || char === '"') {
      const end = skipString(text, at)
      if (/\bsql\.raw\(\s*$/.test(text.slice(Math.max(0, at - 20), at))) {
        found.push(text.slice(at + 1, end - 1))
      }
      at = end
    } else if (char === '`') at = readTemplate(text, at, found)
    else {
      if (char === '{') depth += 1
      if (char === '}') depth -= 1
      at += 1
      if (depth < 0) return at
    }
  }
  return at
}

/** Reads a template and the code inside it; returns the index behind it. */
function readTemplate(text: string, start: number, found: string[]): number {
  const before = text.slice(Math.max(0, start - 200), start)
  const isSql = /\bsql(?:<[^`]*>|\.raw\(\s*)?$/.test(before)
  let piece = ''
  let at = start + 1
  while (at < text.length && text[at] !== '`') {
    if (text[at] === '\\') at += 2
    else if (text[at] === '$' && text[at + 1] === '{') {
      piece += VALUE
      at = readCode(text, at + 2, found)
    } else {
      piece += text[at]
      at += 1
    }
  }
  if (isSql) found.push(piece)
  return at + 1
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

function skipString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== text[start]) at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** A slash begins a regular expression where no value can stand before it. */
function isRegexPlace(text: string, at: number): boolean {
  return /(?:[=(,:[!&|?{};>]|\breturn|^)\s*$/.test(text.slice(Math.max(0, at - 20), at))
}

function skipRegex(text: string, start: number): number {
  let isInClass = false
  let at = start + 1
  while (at < text.length && text[at] !== '\n' && (isInClass || text[at] !== '/')) {
    if (text[at] === '[') isInClass = true
    if (text[at] === ']') isInClass = false
    at += text[at] === '\\' ? 2 : 1
  }
  return at + 1
}
