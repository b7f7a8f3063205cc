/** The budgets of what a browser loads: files, and bytes after gzip. A build over them fails. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  filesOf,
  type Outputs,
  partOf,
  SCREEN_FILES,
  SCREEN_KILOBYTES,
  SCREENS,
} from './screens.ts'

export type Size = {
  name: string
  bytes: number
  limit: number
  /** Of a screen, with the page. */
  files?: { count: number; limit: number }
}

const KB = 1024

/** Scripts and style sheets of the first page, with the shell and the overview. */
const FIRST_LIMIT = 60 * KB
/** What a part loads beyond the first page. */
const PART_LIMIT = 12 * KB
/** Where the limit of a part is another. */
const LIMITS: Readonly<Record<string, number>> = {
  'ui/chart.tsx': 20 * KB,
  'ui/combobox.tsx': 34 * KB,
  // All texts of a language but English, in place of which it is shown.
  'text/de.ts': 24 * KB,
  'screens/email/email.tsx': 16 * KB,
  'screens/me/account.tsx': 14 * KB,
}
/** The overview is lazy too, but belongs to the first page. */
const FIRST_SCREEN = 'screens/overview/overview.tsx'

/**
 * `first`: the names of the files that every screen loads, besides the page.
 * @throws Error that names what is over its budget
 */
export async function measure(
  folder: string,
  { outputs, first }: { outputs: Outputs; first: readonly string[] },
): Promise<Size[]> {
  const bytes = new Map<string, number>()
  for (const name of Object.keys(outputs)) {
    bytes.set(name, gzipSync(await readFile(path.join(folder, name)), { level: 9 }).length)
  }
  const sum = (names: readonly string[]) => {
    return names.reduce((total, name) => total + (bytes.get(name) ?? 0), 0)
  }
  const opening = [...first, ...filesOf(outputs, [FIRST_SCREEN], first)]
  const lazy = Object.values(outputs).flatMap(({ entryPoint }) => partOf(entryPoint) ?? [])
  const parts = lazy.filter((part) => part !== FIRST_SCREEN)
  const sizes: Size[] = [
    { name: 'the first page', bytes: sum(opening), limit: FIRST_LIMIT },
    ...parts.map((part) => {
      const added = filesOf(outputs, [part], opening)
      return { name: part, bytes: sum(added), limit: LIMITS[part] ?? PART_LIMIT }
    }),
    ...SCREENS.map(({ name, parts: own, files = SCREEN_FILES, kilobytes = SCREEN_KILOBYTES }) => {
      const loaded = [...first, ...filesOf(outputs, own, first)]
      return {
        name: `screen: ${name}`,
        bytes: sum(loaded),
        limit: kilobytes * KB,
        files: { count: loaded.length + 1, limit: files },
      }
    }),
  ]
  const faults = sizes.flatMap(findFaults)
  if (faults.length > 0) throw new Error(`the dashboard is over its budget\n${faults.join('\n')}`)
  return sizes
}

function findFaults({ name, bytes, limit, files }: Size): string[] {
  return [
    ...(bytes > limit ? [`${name}: ${bytes} bytes after gzip, limit ${limit}`] : []),
    ...(files !== undefined && files.count > files.limit
      ? [`${name}: ${files.count} files, limit ${files.limit}`]
      : []),
  ]
}
