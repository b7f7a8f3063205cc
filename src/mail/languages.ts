/**
 * The languages that recipients are spoken to in: the footer of marketing mail and the hosted
 * pages (contract 6.5). A locale is matched by what it means, not letter by letter: `pt-BR` is
 * read `pt`, and a Chinese one by its script, else by its region, since those decide the writing.
 */
export const LANGUAGES = [
  'en',
  'nl',
  'fr',
  'hi',
  'de',
  'pt',
  'bg',
  'cs',
  'pl',
  'es',
  'it',
  'zh-TW',
  'zh-HK',
  'zh-CN',
  'ja',
  'sv',
  'cy',
] as const

export type Language = (typeof LANGUAGES)[number]

/** No language tag is longer; what is, was never one. */
const MAX_TAG_LENGTH = 35

/** The language for a BCP 47 tag, `_` taken for `-`; undefined when there is none of ours. */
export function matchLanguage(tag: string | null | undefined): Language | undefined {
  if (!tag || tag.length > MAX_TAG_LENGTH) return undefined
  const [primary = '', ...others] = tag.trim().toLowerCase().split(/[-_]/)
  if (primary === 'zh') return chinese(others)
  return LANGUAGES.find((language) => language === primary)
}

function chinese(subtags: readonly string[]): Language {
  if (subtags.includes('hans')) return 'zh-CN'
  if (subtags.includes('hk') || subtags.includes('mo')) return 'zh-HK'
  return subtags.includes('tw') || subtags.includes('hant') ? 'zh-TW' : 'zh-CN'
}
