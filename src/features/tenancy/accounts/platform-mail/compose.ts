/**
 * Writes the subject, the text and the HTML of a mail to a user. Names and addresses are escaped in
 * HTML; braces in them are no placeholders.
 */
import { oneLine } from '../../../../formats/one-line.ts'
import { escapeHtml } from '../../../../formats/template/characters.ts'
import { fillText, type PlaceholderValues } from '../../../../texts/fill.ts'
import { type Language, matchLanguage } from '../../../../texts/languages.ts'
import { type Texts, textsOf } from '../../../../texts/texts.ts'

export type MailTexts = Texts['mail']

/** `language`: the language of the texts. */
export type ComposedMail = { language: Language; subject: string; text: string; html: string }

/** The content of a mail: a paragraph, and a link if the reader has to act. */
type PlatformMessage = {
  subject: string
  text: string
  values: PlaceholderValues
  link?: { url: string; button: string; life: string }
}

/** Makes the content of a mail. `language`: the language of `texts`. */
export type ToMessage = (texts: MailTexts, language: Language) => PlatformMessage

type Composing = {
  /** The user's language, `xx` or `xx-XX`. */
  language: string
  toMessage: ToMessage
}

const BUTTON_STYLE =
  'display: inline-block; padding: 12px 20px; border-radius: 8px; background: #2a46b8; ' +
  'color: #ffffff; font-weight: 600; text-decoration: none'

export function composeMail({ language: tag, toMessage }: Composing): ComposedMail {
  const language = matchLanguage(tag) ?? 'en'
  const texts = textsOf(language).mail
  const message = toMessage(texts, language)
  return {
    language,
    subject: oneLine(fillText(message.subject, message.values)),
    text: textOf(message, texts),
    html: htmlOf(message, texts),
  }
}

function textOf({ text, values, link }: PlatformMessage, { ignore }: MailTexts): string {
  const parts = [fillText(text, values)]
  if (link !== undefined) parts.push(`${link.button}:\n${link.url}`, link.life, ignore)
  return `${parts.join('\n\n')}\n`
}

function htmlOf({ text, values, link }: PlatformMessage, { copy, ignore }: MailTexts): string {
  const strong = (value: string) => `<strong>${escapeHtml(value)}</strong>`
  const parts = [fillText(text, values, strong)]
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
