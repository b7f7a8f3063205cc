/**
 * What the hosted pages say, in one language. `{project}` and `{email}` stand for the sender's name
 * and the contact's address. "Newsletters and offers" is what marketing is called in front of
 * people: mail that they asked for one by one goes on, and no page may deny that.
 */
import type { Language } from '../../mail/languages.ts'
import { translations } from './translations.ts'

export type PageTexts = {
  unsubscribe: { title: string; ask: string; button: string }
  unsubscribed: { title: string; text: string; note: string; again: string }
  subscribe: { title: string; ask: string; button: string }
  subscribed: { title: string; text: string }
  manage: { title: string; link: string; what: string; on: string; off: string }
  /** The address is on the suppression list, whatever the contact wishes. */
  suppressed: string
  notFound: { title: string; text: string }
  failed: { title: string; text: string }
}

export function textsOf(language: Language): PageTexts {
  return translations[language]
}
