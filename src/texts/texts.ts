/**
 * The texts of pages and mail, in each language. The English file gives their type: the type checker refuses a file
 * that lacks one of its keys, and `test/texts/texts.test.ts` checks the rest. `src/docs/translating.md` explains the parts.
 *
 * A program in a browser that needs one language imports the file of that language itself, and from here the type only.
 */
import bg from './bg.json' with { type: 'json' }
import cs from './cs.json' with { type: 'json' }
import cy from './cy.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import hi from './hi.json' with { type: 'json' }
import it from './it.json' with { type: 'json' }
import ja from './ja.json' with { type: 'json' }
import type { Language } from './languages.ts'
import nl from './nl.json' with { type: 'json' }
import pl from './pl.json' with { type: 'json' }
import pt from './pt.json' with { type: 'json' }
import sv from './sv.json' with { type: 'json' }
import zhCN from './zh-CN.json' with { type: 'json' }
import zhHK from './zh-HK.json' with { type: 'json' }
import zhTW from './zh-TW.json' with { type: 'json' }

/**
 * A text that agrees with a number has a form for each plural category of its language (Unicode
 * CLDR, the names of `Intl.PluralRules`): English has `one` and `other`, Polish also `few` and
 * `many`, Japanese only `other`.
 */
type PluralForms = Readonly<{ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>>

/**
 * The type of the texts of any language, made from the type of the English texts: an object with
 * `one` and `other` becomes plural forms.
 */
type WithPlurals<English> = English extends string
  ? string
  : English extends { one: string; other: string }
    ? PluralForms
    : { readonly [Key in keyof English]: WithPlurals<English[Key]> }

/** The texts of one language, by the part of the program that shows them (`contact`, `mail`, …). */
export type Texts = WithPlurals<typeof en>

const TEXTS: Readonly<Record<Language, Texts>> = {
  ...{ bg, cs, cy, de, en, es, fr, hi, it, ja, nl, pl, pt, sv },
  ...{ 'zh-CN': zhCN, 'zh-HK': zhHK, 'zh-TW': zhTW },
}

export function textsOf(language: Language): Texts {
  return TEXTS[language]
}

/** Returns the plural form for `count`. */
export function formFor(language: Language, forms: PluralForms, count: number): string {
  return forms[new Intl.PluralRules(language).select(count)] ?? forms.other
}
