/** The regular expressions of the program, listed once in a process. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { recordBuiltRegexes } from './built-regexes.ts'
import { type BuildingPlace, type FoundRegex, findRegexes } from './source-regexes.ts'

const root = path.join(import.meta.dirname, '../..')

let sources: { literals: FoundRegex[]; places: BuildingPlace[] } | undefined
let built: Promise<FoundRegex[]> | undefined

/** The literals, and the places that build one at run time. */
export function listSources() {
  if (sources !== undefined) return sources
  const files = globSync('{src/**/*,scripts/build*}.ts', { cwd: root })
  const found = files.map((file) => {
    const name = file.split(path.sep).join('/')
    return findRegexes(name, readFileSync(path.join(root, file), 'utf8'))
  })
  sources = {
    literals: found.flatMap(({ literals }) => literals),
    places: found.flatMap(({ places }) => places),
  }
  return sources
}

/** Those that the places build. */
export function listBuilt(): Promise<FoundRegex[]> {
  built ??= recordBuiltRegexes([...new Set(listSources().places.map(({ file }) => file))])
  return built
}
