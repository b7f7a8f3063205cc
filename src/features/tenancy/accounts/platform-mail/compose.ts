/**
 * Writes the subject, the text and the HTML of a mail to a user. Names and addresses are escaped in
 * HTML; braces in them are no placeholders.
 */
import { type Language, matchLanguage } from '../../../../formats/languages.ts'
import { oneLine } from '../../../../formats/one-line.ts'
import { escapeHtml } from '../../../../formats/template/characters.ts'
import { MAIL_VALUES, type MailTexts, type MailValues } from './texts.ts'
import { MAIL_TRANSLATIONS } from './translations.ts'
import { USAGE_TRANSLATIONS } from './usage-translations.ts'

/** `language`: of the texts. */
export type ComposedMail = { language: Language; subject: string; text: string; html: string }

/** What a mail says: a paragraph, and a link if its reader has to act. */
export type Message = {
  subject: string
  text: string
  values: MailValues
  link?: { url: string; button: string; life: string }
}

/** `language`: of the texts. */
export type ToMessage = (texts: MailTexts, language: Language) => Message

type Composing = {
  /** The user's language, `xx` or `xx-XX`. */
  language: string
  toMessage: ToMessage
}

const PLACEHOLDER = new RegExp(`\\{(${MAIL_VALUES.join('|')})\\}`, 'g')

const BUTTON_STYLE =
  'display: inline-block; padding: 12px 20px; border-radius: 8px; background: #2a46b8; ' +
  'color: #ffffff; font-weight: 600; text-decoration: none'

export function composeMail({ language: tag, toMessage }: Composing): ComposedMail {
  const language = matchLanguage(tag) ?? 'en'
  const texts = { ...MAIL_TRANSLATIONS[language], usage: USAGE_TRANSLATIONS[language] }
  const message = toMessage(texts, language)
  return {
    language,
    subject: oneLine(fill(message.subject, message.values, asIs)),
    text: textOf(message, texts),
    html: htmlOf(message, texts),
  }
}

function textOf({ text, values, link }: Message, { ignore }: MailTexts): string {
  const parts = [fill(text, values, asIs)]
  if (link !== undefined) parts.push(`${link.button}:\n${link.url}`, link.life, ignore)
  return `${parts.join('\n\n')}\n`
}

function htmlOf({ text, values, link }: Message, { copy, ignore }: MailTexts): string {
  const strong = (value: string) => `<strong>${escapeHtml(value)}</strong>`
  const parts = [fill(text, values, strong)]
  if (link !== undefined) {
    const url = escapeHtml(link.url)
    parts.push(
      `<a href="${url}" style="${BUTTON_STYLE}">${link.button}</a>`,
      link.life,
      `<small>${copy}<br>\n<a href="${url}">${url}</a></small>`,
      `<small>${ignore}</small>`,
    )
  }
  return `${parts.map((part) => `<p>${part}</p>`).join('\n')}\n`
}

/** `text` with the values in place of `{project}` and the like; a value is never searched. */
function fill(text: string, values: MailValues, show: (value: string) => string): string {
  return text.replace(PLACEHOLDER, (_, name: keyof MailValues) => show(values[name] ?? ''))
}

function asIs(text: string): string {
  return text
}
