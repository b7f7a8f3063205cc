/** What is wrong with a file of texts, compared with the English one. */
import { PLACEHOLDERS } from '../../src/texts/fill.ts'

/** JSON as a file of texts has it. */
export type Section = { readonly [key: string]: Section | string }

/** Each text with its path: `mail.reset.subject`. */
export function flatten(section: Section, prefix = ''): [path: string, text: string][] {
  return Object.entries(section).flatMap(([key, inner]) =>
    typeof inner === 'string'
      ? [[prefix + key, inner] as [string, string]]
      : flatten(inner, `${prefix}${key}.`),
  )
}

/** One line for each fault of `texts`; `language` is a BCP 47 tag. */
export function findFaults(language: string, english: Section, texts: Section): string[] {
  const models = new Map(expected(language, english))
  const found = new Map(flatten(texts))
  return [
    ...[...models.keys()].filter((path) => !found.has(path)).map((path) => `${path} is missing`),
    ...[...found].flatMap(([path, text]) => {
      const model = models.get(path)
      if (model === undefined) return [`${path} is not in English`]
      return faultsOf(text, model).map((fault) => `${path} ${fault}`)
    }),
  ]
}

/** The file as it should be written: keys in the order of English, each on a line. */
export function formatTexts(language: string, english: Section, texts: Section): string {
  const found = new Map(flatten(texts))
  const ordered: Record<string, unknown> = {}
  for (const [path] of expected(language, english)) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    let section = ordered
    for (const key of keys) {
      section[key] ??= {}
      section = section[key] as Record<string, unknown>
    }
    section[last] = found.get(path)
  }
  return `${JSON.stringify(ordered, null, 2)}\n`
}

/** The paths that a language has, with the English text: of a text in forms, the forms of the language. */
function expected(language: string, section: Section, prefix = ''): [string, string][] {
  return Object.entries(section).flatMap(([key, inner]): [string, string][] => {
    const path = prefix + key
    if (typeof inner === 'string') return [[path, inner]]
    if (!isPlural(inner)) return expected(language, inner, `${path}.`)
    return formsOf(language).map((form) => [`${path}.${form}`, inner.other])
  })
}

function isPlural(section: Section): section is { one: string; other: string } {
  return Object.keys(section).sort().join() === 'one,other'
}

function formsOf(language: string): string[] {
  return new Intl.PluralRules(language).resolvedOptions().pluralCategories
}

function faultsOf(text: string, model: string): string[] {
  const faults: [string, boolean][] = [
    ['is empty', text.length < 2],
    ['has white space at an end or twice', text !== text.trim() || text.includes('  ')],
    ['is not in the normal form NFC', text !== text.normalize('NFC')],
    ['has other placeholders than English', placeholdersOf(text) !== placeholdersOf(model)],
    ['has a character of HTML', /[<>"&]/.test(text)],
    ['has a brace of no placeholder', /[{}]/.test(withoutPlaceholders(text))],
  ]
  return faults.filter(([, isFound]) => isFound).map(([fault]) => fault)
}

function placeholdersOf(text: string): string {
  return [...text.matchAll(/\{\w*\}/g)].map(String).sort().join()
}

function withoutPlaceholders(text: string): string {
  return PLACEHOLDERS.reduce((rest, name) => rest.replaceAll(`{${name}}`, ''), text)
}
