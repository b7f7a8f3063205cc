/** An operator's list of domains: one domain per line, with comments after `#`. */
import { readFile, stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { hasCode } from '../../../../base/errors.ts'
import { parseDomain } from '../../../../formats/address/address.ts'

/** Identifies the state of a file; undefined if there is no file. */
export type FileStamp = string | undefined

const MAX_BYTES = 16 * 1024 * 1024
/** Each takes about 100 bytes of memory; the largest published lists have a tenth of them. */
export const MAX_DOMAINS = 1_000_000
/** Lines that are parsed before the event loop runs other work: a few milliseconds. */
const LINES_AT_ONCE = 2_000
/** Lines per tolerated invalid line: published lists contain a few. */
const LINES_PER_FAULT = 100

export async function stampOf(file: string): Promise<FileStamp> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * Returns the domains of the file as A-labels.
 * @throws Error for a file that cannot be read, is larger than 16 MB, contains no domain or more than a
 *   million, or has more than one invalid line in a hundred, as a saved error page has
 */
export async function readListFile(file: string): Promise<Set<string>> {
  const stats = await stat(file)
  if (!stats.isFile()) throw new Error('it is not a file')
  if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
  return parseList(await readFile(file, 'utf8'))
}

/** @throws Error as `readListFile` */
export async function parseList(
  text: string,
  maxDomains: number = MAX_DOMAINS,
): Promise<Set<string>> {
  const domains = new Set<string>()
  const faults = { count: 0, firstLine: 0 }
  let number = 0
  for (const line of linesOf(text)) {
    number += 1
    if (number % LINES_AT_ONCE === 0) await setImmediate()
    const entry = line.replace(/^\ufeff|#.*/g, '').trim()
    if (entry === '') continue
    const domain = parseDomain(entry)
    if (domain === undefined) {
      if (faults.count === 0) faults.firstLine = number
      faults.count += 1
    } else domains.add(domain)
    if (domains.size > maxDomains) throw new Error(`it has more than ${maxDomains} domains`)
  }
  if (faults.count * LINES_PER_FAULT > domains.size + faults.count) {
    const { firstLine, count } = faults
    throw new Error(`line ${firstLine} and ${count - 1} other lines are not domains`)
  }
  if (domains.size === 0) throw new Error('it contains no domain')
  return domains
}

/** One after the other: an array of all lines would take more memory than the text. */
function* linesOf(text: string): Generator<string> {
  let from = 0
  while (from <= text.length) {
    const newline = text.indexOf('\n', from)
    const end = newline === -1 ? text.length : newline
    yield text.slice(from, text[end - 1] === '\r' && end > from ? end - 1 : end)
    from = end + 1
  }
}
