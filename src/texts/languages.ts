/**
 * The languages of the footer of marketing mail, the hosted pages and the mail to users. A locale
 * matches by its language: `pt-BR` gives `pt`. A Chinese locale matches by its script or, without
 * one, by its region.
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

/** Characters of the longest text that is read as a language tag. */
const MAX_TAG_LENGTH = 35

/**
 * The language for a BCP 47 tag, also written with `_` in place of `-`; undefined if none matches.
 */
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
