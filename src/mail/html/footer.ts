/**
 * The end of marketing mail: why it came, from which project, and the way to stop it. It stands
 * before the document's closing body tag, and in a message of plain text below it.
 */

import type { Language } from '../languages.ts'
import { escapeHtml } from '../template/characters.ts'
import { FOOTER_PHRASES } from './footer-phrases.ts'

export type Footer = {
  language: Language
  projectName: string
  /** Of the page where its contact unsubscribes. */
  url: string
}

/** As wide as the text of a body in our own document, whose margins it shares. */
const BOX_STYLE = 'box-sizing: border-box; max-width: 600px; margin: 24px auto 0; padding: 0 16px'
/** The rule above the text has its width: the margins are the box's. */
const TEXT_STYLE =
  'padding: 16px 0; border-top: 1px solid #d0d7de; ' +
  'font: 13px/1.5 system-ui, -apple-system, Roboto, Arial, sans-serif; color: #57606a; ' +
  'text-align: center'

export function footerHtml({ language, projectName, url }: Footer): string {
  const { sentence, link } = FOOTER_PHRASES[language]
  const reason = sentence.replace('{project}', () => escapeHtml(projectName))
  return `<div lang="${language}" style="${BOX_STYLE}">
<p style="margin: 0; ${TEXT_STYLE}">${reason}<br>
<a href="${escapeHtml(url)}" style="color: #57606a">${link}</a></p>
</div>
`
}

export function footerText({ language, projectName, url }: Footer): string {
  const { sentence, link } = FOOTER_PHRASES[language]
  return `${sentence.replace('{project}', () => projectName)}\n${link} (${url})`
}
