/**
 * The footer of marketing mail: the reason for the email, the project, the unsubscribe link, and the
 * project's postal address if it has one. It goes before the closing body tag of HTML, and at the end of plain text.
 */

import { FOOTERS } from '../../texts/footers.ts'
import type { Language } from '../../texts/languages.ts'
import { escapeHtml } from '../template/characters.ts'

export type Footer = {
  language: Language
  projectName: string
  /** The page where the contact unsubscribes. */
  url: string
  /** The postal address of the project on one line; null if it has none. */
  postalAddress: string | null
}

/**
 * The properties of a footer that shape its text. Footers with equal properties differ only in
 * their values.
 */
export type FooterKind = Pick<Footer, 'language'> & { hasPostalAddress: boolean }

/** The width and margins of the footer, the same as those of the body text of `document.ts`. */
const BOX_STYLE = 'box-sizing: border-box; max-width: 600px; margin: 24px auto 0; padding: 0 16px'
/**
 * The horizontal line above the text is as wide as the text, because the margins belong to the box
 * around it.
 */
const TEXT_STYLE =
  'padding: 16px 0; border-top: 1px solid #d0d7de; ' +
  'font: 13px/1.5 system-ui, -apple-system, Roboto, Arial, sans-serif; color: #57606a; ' +
  'text-align: center'

export function footerHtml({ language, projectName, url, postalAddress }: Footer): string {
  const { sentence, link } = FOOTERS[language]
  const reason = sentence.replace('{project}', () => escapeHtml(projectName))
  const address = postalAddress === null ? '' : `<br>\n${escapeHtml(postalAddress)}`
  return `<div lang="${language}" style="${BOX_STYLE}">
<p style="margin: 0; ${TEXT_STYLE}">${reason}<br>
<a href="${escapeHtml(url)}" style="color: #57606a">${link}</a>${address}</p>
</div>
`
}

export function footerText({ language, projectName, url, postalAddress }: Footer): string {
  const { sentence, link } = FOOTERS[language]
  const address = postalAddress === null ? '' : `\n${postalAddress}`
  return `${sentence.replace('{project}', () => projectName)}\n${link} (${url})${address}`
}

export function kindOfFooter({ language, postalAddress }: Footer): FooterKind {
  return { language, hasPostalAddress: postalAddress !== null }
}
