/** Shows places in the bundle of the test files as places in their source. */
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'

/** `tests.mjs:812:15`, with the folder before it. */
const PLACE = /(?:file:\/\/)?(\/[^\s():]+\.mjs|[a-z]:[^\s():]+\.mjs):(\d+)(?::(\d+))?/gi

/** The map of each bundle, which is read for the first failure. */
const maps = new Map<string, SourceMap | null>()

/** The text with each place in a bundle, line and column counted from 1, as `test/a.test.ts:12:3`. */
export function showSourcePlaces(text: string): string {
  return text.replaceAll(PLACE, (place: string, bundle: string, line: string, column = '1') => {
    const entry = readMap(bundle)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return place
    const source = path.relative('', path.resolve(path.dirname(bundle), entry.originalSource))
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  })
}

function readMap(bundle: string): SourceMap | null {
  let map = maps.get(bundle)
  if (map === undefined) {
    const file = `${bundle}.map`
    map = existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : null
    maps.set(bundle, map)
  }
  return map
}
