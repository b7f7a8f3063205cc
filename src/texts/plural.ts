/**
 * Texts that agree with a number have a form for each plural category of their language (Unicode CLDR, the names of
 * `Intl.PluralRules`): English has `one` and `other`, Polish also `few` and `many`, Japanese only `other`.
 */
import type { Language } from './languages.ts'

type Category = Intl.LDMLPluralRule

type PluralForms = Readonly<{ other: string } & Partial<Record<Category, string>>>

/** The type of all languages, from that of English: an object of `one` and `other` is a text in forms. */
export type WithPlurals<English> = English extends string
  ? string
  : English extends { one: string; other: string }
    ? PluralForms
    : { readonly [Key in keyof English]: WithPlurals<English[Key]> }

/** The form for `count`, which a placeholder in the form may show. */
export function formFor(language: Language, forms: PluralForms, count: number): string {
  return forms[new Intl.PluralRules(language).select(count)] ?? forms.other
}
