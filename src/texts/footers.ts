/**
 * The texts of the footer of marketing mail. They have a file of their own because threads that
 * compose messages need no other texts: the build puts only this part of the languages into the
 * programs of those threads (`scripts/bundle.ts`).
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
import type { Texts } from './texts.ts'
import zhCN from './zh-CN.json' with { type: 'json' }
import zhHK from './zh-HK.json' with { type: 'json' }
import zhTW from './zh-TW.json' with { type: 'json' }

export const FOOTERS: Readonly<Record<Language, Texts['footer']>> = {
  bg: bg.footer,
  cs: cs.footer,
  cy: cy.footer,
  de: de.footer,
  en: en.footer,
  es: es.footer,
  fr: fr.footer,
  hi: hi.footer,
  it: it.footer,
  ja: ja.footer,
  nl: nl.footer,
  pl: pl.footer,
  pt: pt.footer,
  sv: sv.footer,
  'zh-CN': zhCN.footer,
  'zh-HK': zhHK.footer,
  'zh-TW': zhTW.footer,
}
