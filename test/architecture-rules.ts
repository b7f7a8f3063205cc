/**
 * The rooms of `src/` and who may import whom, as a check over source texts.
 *
 * A room is a folder of `src/` or one of the files beside them. Type imports count as imports.
 */
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'

/** Files by their path below `src/`, with `/`. */
export type Sources = Map<string, string>
type Packages = { dependencies: string[]; devDependencies: string[] }

type Import = { from: string; specifier: string; isType: boolean }

const free = ['base', 'turns']
/** The room of the browser, which uses no free room and whose packages the program never loads. */
const BROWSER = 'dashboard'

/** Room -> the rooms it may import, besides `free` and itself. */
const table: Record<string, string[] | 'any'> = {
  main: ['cli'],
  app: 'any',
  base: [],
  turns: [],
  texts: [],
  config: [],
  formats: ['texts'],
  records: ['formats'],
  // Code of the browser: it knows the API by its types alone.
  dashboard: ['client'],
  client: [],
  threads: ['config'],
  store: ['threads', 'config'],
  work: ['store', 'config'],
  outbound: ['threads', 'formats', 'config'],
  features: ['work', 'store', 'outbound', 'records', 'formats', 'texts', 'config'],
  core: ['features', 'work', 'store', 'outbound', 'config'],
  http: ['core', 'features', 'work', 'records', 'formats', 'texts', 'config'],
  inbound: ['core', 'features', 'threads', 'formats', 'config'],
  cli: ['app', 'http', 'core', 'features', 'records', 'store', 'formats', 'config'],
}

/** The folders of `features/`: each may import itself and those before it. */
const AREAS = [
  'ground',
  'people',
  'mail',
  'incoming',
  'tenancy',
  'outreach',
  'insight',
  'operation',
]

/** `work` has machines for any work: none of these words of the product stands in it. */
const PRODUCT_WORDS =
  /campaign|workflow|contact|e-?mail|template|webhook|domain|segment|suppress|mailbox|stripe/i
/** Jobs belong to projects: their table has the column. */
const PROJECT_WORD = { word: /project/i, except: 'work/jobs/' }

const BROWSER_PACKAGES = [
  ...['preact', 'preact-iso', '@preact/signals', '@tanstack/query-core', '@leeoniya/ufuzzy', 'uqr'],
  ...['d3-scale', 'd3-shape', '@zag-js/preact', '@zag-js/combobox'],
]

/** What only some files may import at run time; a trailing `/` means the whole room. */
const owners: Record<string, string> = {
  'drizzle-orm': 'store/drizzle.ts',
  'better-sqlite3': 'store/',
  stripe: 'features/tenancy/billing/',
  // With `max`, it allocates for all entries at once.
  'lru-cache': 'base/lru.ts',
  ...Object.fromEntries(BROWSER_PACKAGES.map((name) => [name, `${BROWSER}/`])),
}

/** `formats` is pure: no sockets, files, processes or threads. */
const impure = /^node:(net|tls|dgram|dns|http|https|http2|fs|child_process|worker_threads)(\/|$)/

/** The sources of the program. */
export function readSources(): Sources {
  const root = path.join(import.meta.dirname, '..', 'src')
  const files = globSync('{**/*.{ts,tsx},texts/*.json}', { cwd: root })
  return new Map(
    files.map((file) => [
      file.replaceAll(path.sep, '/'),
      readFileSync(path.join(root, file), 'utf8'),
    ]),
  )
}

/** Every breach as one line, sorted; none is right. */
export function findBreaches(sources: Sources, packages: Packages): string[] {
  const imports = [...sources].flatMap(([file, text]) => listImports(file, text))
  const inner = imports.filter(({ specifier }) => specifier.startsWith('.'))
  const outer = imports.filter(({ specifier }) => !specifier.startsWith('.'))
  const breaches = [
    ...[...sources.keys()].flatMap(checkPlace),
    ...inner.flatMap((one) => checkInner(one, sources)),
    ...outer.flatMap((one) => checkOuter(one, packages)),
    ...findCycles('rooms', edgesBetween(inner, roomOf)),
    ...findCycles('features', edgesBetween(inner, featureOf)),
    ...findCircles(edgesBetween(inner, (file) => file)),
    ...findReexports(sources),
    ...[...sources].flatMap(([file, text]) => checkWords(file, text)),
  ]
  return [...new Set(breaches)].sort()
}

export function listImports(file: string, text: string): Import[] {
  const found: Import[] = []
  const statement = /^(?:import|export)\s+(type\s)?[\w\s{},*$]*?from\s+'([^']+)'/gm
  for (const [, type, specifier = ''] of text.matchAll(statement)) {
    found.push({ from: file, specifier, isType: type !== undefined })
  }
  const call = /^import\s+'([^']+)'|\b(?:import|require)\(\s*'([^']+)'\s*,?\s*\)/gm
  for (const [, bare, called] of text.matchAll(call)) {
    found.push({ from: file, specifier: bare ?? called ?? '', isType: false })
  }
  if (/\bimport\((?!\s*')/.test(text)) found.push({ from: file, specifier: '?', isType: false })
  return found
}

function checkPlace(file: string): string[] {
  if (!(roomOf(file) in table)) return [`${file} stands in no room`]
  const area = areaOf(file)
  return area === undefined || AREAS.includes(area) ? [] : [`${file} stands in no area`]
}

function checkWords(file: string, text: string): string[] {
  if (roomOf(file) !== 'work') return []
  const words = file.startsWith(PROJECT_WORD.except)
    ? [PRODUCT_WORDS]
    : [PRODUCT_WORDS, PROJECT_WORD.word]
  return words
    .flatMap((word) => word.exec(text)?.[0] ?? [])
    .map((word) => `${file} says "${word}": work knows no product`)
}

function checkInner({ from, specifier }: Import, sources: Sources): string[] {
  const file = resolve(from, specifier)
  if (!sources.has(file)) return [`${from} imports ${specifier}, which does not exist in src/`]
  const [room, other] = [roomOf(from), roomOf(file)]
  const allowed = table[room] ?? []
  const [area, lower] = [areaOf(from), areaOf(file)]
  if (area !== undefined && lower !== undefined && AREAS.indexOf(lower) > AREAS.indexOf(area)) {
    return [`${from} imports ${file}: ${lower} comes after ${area}`]
  }
  const isFree = room !== BROWSER && free.includes(other)
  if (room === other || isFree || allowed === 'any') return []
  return allowed.includes(other) ? [] : [`${from} imports ${file}: ${room} may not import ${other}`]
}

function checkOuter({ from, specifier, isType }: Import, packages: Packages): string[] {
  if (specifier === '?') return [`${from} imports a computed name`]
  if (roomOf(from) === 'formats' && impure.test(specifier)) {
    return [`${from} imports ${specifier}: formats is pure`]
  }
  const isBrowser = roomOf(from) === BROWSER
  if (isBuiltin(specifier)) {
    return isBrowser ? [`${from} imports ${specifier}: a browser has no such module`] : []
  }
  const name = packageOf(specifier)
  if (!isType && !isOwner(from, name)) return [`${from} imports ${name} past ${owners[name]}`]
  const { dependencies, devDependencies } = packages
  const declared = isType || isBrowser ? [...dependencies, ...devDependencies] : dependencies
  return declared.includes(name) ? [] : [`${from} imports ${name}, which is no dependency`]
}

function isOwner(file: string, name: string): boolean {
  const owner = owners[name]
  if (owner === undefined) return true
  return owner.endsWith('/') ? file.startsWith(owner) : file === owner
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

function roomOf(file: string): string {
  return file.includes('/')
    ? (file.split('/')[0] ?? '')
    : path.posix.basename(file).replace(/\.tsx?$/, '')
}

/** The folder of `features/`; undefined elsewhere. */
function areaOf(file: string): string | undefined {
  const [room, area] = file.split('/')
  return room === 'features' ? area : undefined
}

/** The folder or file of an area; undefined elsewhere. */
function featureOf(file: string): string | undefined {
  const [room, area, feature] = file.split('/')
  return room === 'features' ? `${area}/${feature}` : undefined
}

function resolve(from: string, specifier: string): string {
  return path.posix.join(path.posix.dirname(from), specifier)
}

function edgesBetween(
  imports: Import[],
  nameOf: (file: string) => string | undefined,
): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>()
  for (const { from, specifier } of imports) {
    const [source, target] = [nameOf(from), nameOf(resolve(from, specifier))]
    if (source === undefined || target === undefined || source === target) continue
    edges.set(source, (edges.get(source) ?? new Set()).add(target))
  }
  return edges
}

/**
 * One line for each name that a file exports without declaring it. Features pass on types of the
 * store's schema, which edges may not import: each type from one file.
 */
function findReexports(sources: Sources): string[] {
  const lines: string[] = []
  const passedOn = new Map<string, string>()
  const statement = /^export\s+(type\s+)?(\*|\{[^}]*\})(?:\s+as\s+\w+)?(?:\s+from\s+'([^']+)')?/gm
  for (const [file, text] of sources) {
    for (const [, isType, names = '', specifier = ''] of text.matchAll(statement)) {
      if (specifier !== '' && !specifier.startsWith('.')) continue
      const isSchema = specifier !== '' && resolve(file, specifier).startsWith('store/schema/')
      for (const name of names.match(/\w+|\*/g) ?? []) {
        const isAllowed = isType && isSchema && roomOf(file) === 'features'
        const first = isAllowed ? passedOn.get(name) : undefined
        if (isAllowed && first === undefined) passedOn.set(name, file)
        else {
          const other = first === undefined ? '' : `; ${first} passes it on`
          lines.push(`${file} exports ${name}, which it does not declare${other}`)
        }
      }
    }
  }
  return lines
}

/** One line for each circle of files, with its shortest way around from its first file. */
function findCircles(edges: Map<string, Set<string>>): string[] {
  const circles = [...edges.keys()].flatMap((start) => {
    const way = findWayAround(start, edges)
    return way === undefined || way.some((file) => file < start) ? [] : [way]
  })
  return circles.map((way) => `circle of files: ${way.join(' > ')}`)
}

/** The shortest way from `start` back to itself; undefined without one. */
function findWayAround(start: string, edges: Map<string, Set<string>>): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const pending = [start]
  for (const file of pending) {
    for (const next of edges.get(file) ?? []) {
      if (next === start) return [start, ...trace(file, cameFrom), start]
      if (cameFrom.has(next)) continue
      cameFrom.set(next, file)
      pending.push(next)
    }
  }
  return undefined
}

/** The files on the way to `file`, without the start. */
function trace(file: string, cameFrom: Map<string, string>): string[] {
  const way: string[] = []
  for (let at: string | undefined = file; at !== undefined; at = cameFrom.get(at)) {
    if (cameFrom.has(at)) way.unshift(at)
  }
  return way
}

/** One line for each node that can reach itself. */
function findCycles(what: string, edges: Map<string, Set<string>>): string[] {
  const lines: string[] = []
  for (const start of edges.keys()) {
    const reached = new Set<string>()
    const pending = [...(edges.get(start) ?? [])]
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (reached.has(node)) continue
      reached.add(node)
      pending.push(...(edges.get(node) ?? []))
    }
    if (reached.has(start)) lines.push(`cycle of ${what} through ${start}`)
  }
  return lines
}
