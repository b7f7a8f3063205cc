/** The budgets of what a browser loads, in bytes after gzip. A build whose parts are larger fails. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Metafile } from 'esbuild'

export type Size = { name: string; bytes: number; limit: number }

const KB = 1024

/** Scripts and style sheets of the first page, with the shell and the overview. */
const FIRST_LIMIT = 60 * KB
const FIRST_FILES = 6
/** What a screen loads beyond the first page. */
const SCREEN_LIMIT = 12 * KB
/** Lazy parts by their source below `src/dashboard`, where the limit is another. */
const LIMITS: Readonly<Record<string, number>> = {
  'ui/chart.tsx': 20 * KB,
  'ui/combobox.tsx': 34 * KB,
  // All texts of a language but English, in place of which it is shown.
  'text/de.ts': 24 * KB,
  'screens/email/email.tsx': 16 * KB,
  'screens/me/account.tsx': 14 * KB,
}
/** The overview is lazy too, but belongs to the first page. */
const FIRST_SCREEN = 'lazy:src/dashboard/screens/overview/overview.tsx'

/**
 * `first`: the names of the files that the first page loads.
 * @throws Error that names the parts that are too large
 */
export async function measure(
  folder: string,
  { outputs, first }: { outputs: Metafile['outputs']; first: readonly string[] },
): Promise<Size[]> {
  const bytes = new Map<string, number>()
  for (const name of Object.keys(outputs)) {
    bytes.set(name, gzipSync(await readFile(path.join(folder, name)), { level: 9 }).length)
  }
  const sum = (names: Iterable<string>) => {
    return [...names].reduce((total, name) => total + (bytes.get(name) ?? 0), 0)
  }
  const lazy = Object.entries(outputs).filter(
    ([name, { entryPoint }]) => entryPoint !== undefined && !first.includes(name),
  )
  const overview = lazy.find(([, { entryPoint }]) => entryPoint === FIRST_SCREEN)?.[0]
  const opening = new Set([
    ...first,
    ...(overview === undefined ? [] : loadedBy(outputs, overview)),
  ])
  const sizes = lazy
    .filter(([name]) => !opening.has(name))
    .map(([name, { entryPoint = '' }]) => {
      const source = entryPoint.replace(/^lazy:src\/dashboard\//, '')
      const added = [...loadedBy(outputs, name)].filter((one) => !opening.has(one))
      return { name: source, bytes: sum(added), limit: LIMITS[source] ?? SCREEN_LIMIT }
    })
  sizes.unshift({ name: 'the first page', bytes: sum(opening), limit: FIRST_LIMIT })
  const faults = sizes
    .filter(({ bytes: size, limit }) => size > limit)
    .map(({ name, bytes: size, limit }) => `${name}: ${size} bytes after gzip, limit ${limit}`)
  // The page itself is a request too.
  if (first.length + 1 > FIRST_FILES) {
    faults.push(
      `the first page loads ${first.length + 1} files, limit ${FIRST_FILES}: ${first.join(', ')}`,
    )
  }
  if (faults.length > 0) throw new Error(`the dashboard is over its budget\n${faults.join('\n')}`)
  return sizes
}

/** The file and those that it imports before it runs. */
function loadedBy(
  outputs: Metafile['outputs'],
  name: string,
  found = new Set<string>(),
): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const { path: other, kind } of outputs[name]?.imports ?? []) {
    if (kind === 'import-statement') loadedBy(outputs, other, found)
  }
  return found
}
