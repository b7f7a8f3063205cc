/** The configuration file of a backup, for the folder that it was restored to. */
import path from 'node:path'
import { describeError } from '../../../../base/errors.ts'
import { readToml } from '../../../../config/layers/file.ts'
import { formatNewFile } from '../../../../config/values/toml-text.ts'

const TABLE = /^\s*\[/
const DATA_DIR = /^\s*(?:data_dir|"data_dir"|'data_dir')\s*=/
const DATABASE_URL = /^\s*(?:database\s*\.\s*)?url\s*=/

/**
 * Sets `data_dir` to the folder and puts the database there; all other lines stay. Undefined when that
 * cannot be done line by line. @throws nothing
 */
export function relocateConfig(text: string, dataDir: string): string | undefined {
  const before = valuesOf(text)
  if (before === undefined) return undefined
  const line = firstLineOf(formatNewFile({ data_dir: dataDir }))
  const lines = text.split('\n')
  const tables = lines.findIndex((one) => TABLE.test(one))
  const end = tables === -1 ? lines.length : tables
  const known = lines.findIndex((one, index) => index < end && DATA_DIR.test(one))
  if (known === -1) lines.splice(0, 0, line)
  else lines[known] = line
  const changed = before.has('database.url') ? withoutDatabaseUrl(lines) : lines
  const result = changed.join('\n')
  return isOnlyMoved(before, valuesOf(result), dataDir) ? result : undefined
}

function withoutDatabaseUrl(lines: string[]): string[] {
  let section = ''
  return lines.map((line) => {
    if (TABLE.test(line)) section = line.replace(/[\s[\]]/g, '')
    const isUrl = DATABASE_URL.test(line) && (section === 'database') !== /database/.test(line)
    return isUrl ? `# ${line}` : line
  })
}

function firstLineOf(text: string): string {
  return text.split('\n').find((line) => DATA_DIR.test(line)) ?? ''
}

function isOnlyMoved(
  before: Map<string, unknown>,
  after: Map<string, unknown> | undefined,
  dataDir: string,
): boolean {
  if (after === undefined || after.get('data_dir') !== dataDir || after.has('database.url')) {
    return false
  }
  const keys = new Set([...before.keys(), ...after.keys()])
  return [...keys]
    .filter((key) => key !== 'data_dir' && key !== 'database.url')
    .every((key) => JSON.stringify(before.get(key)) === JSON.stringify(after.get(key)))
}

/** The values by key; undefined when the text is no TOML. */
function valuesOf(text: string): Map<string, unknown> | undefined {
  try {
    const { given } = readToml({ file: path.sep, text })
    return new Map([...given].map(([key, { value }]) => [key, value]))
  } catch (error) {
    if (describeError(error) === '') throw error
    return undefined
  }
}
