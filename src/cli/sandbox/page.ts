/** Shows a sandbox message as a web page; the message itself is in a frame without scripts. */
import { hash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { formatSecond } from '../../base/clock.ts'
import type { SandboxMessage } from '../../features/mail/messages/sandbox-messages.ts'
import type { DecodedMessage } from '../../formats/decode-message.ts'

/** The message may use its own styles and images, loads nothing, and opens links in a new window. */
export const MESSAGE_POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
].join('; ')

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 60rem; padding: 1rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem }
dt { opacity: .7 } dd { margin: 0; overflow-wrap: anywhere }
iframe { width: 100%; height: 70vh; border: 1px solid #8888; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { padding: .3rem .8rem .3rem 0; text-align: left }
td { border-top: 1px solid #8888; overflow-wrap: anywhere; vertical-align: top }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8888; padding: 1rem }
`

/** The policy of the page around the message. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  "frame-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The HTML part for the frame; its links open outside of the frame, which cannot navigate. */
export function frameHtml(text: string): string {
  return text.replace(/^(\s*<!doctype[^>]*>)?/i, '$1<base target="_blank">')
}

/** Links to the messages, newest first. */
export function listPage(messages: readonly SandboxMessage[], total: number): string {
  const rows = messages.map(
    ({ id, receivedAt, sender, recipient, subject }) => html`<tr>
<td><a href="${id}/">${subject === '' ? '(no subject)' : subject}</a></td>
<td>${recipient}</td><td>${sender}</td><td>${formatSecond(receivedAt)}</td></tr>`,
  )
  return String(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sandbox</title><link rel="icon" href="data:,">
<style>${raw(STYLE)}</style></head>
<body>
<h1>Sandbox</h1>
<p>${messages.length} of ${total} messages, newest first. Reload the page to see new ones.</p>
<table><tr><th>Subject</th><th>To</th><th>From</th><th>Received</th></tr>
${rows}</table>
</body>
</html>`)
}

/** `isListed`: below the list of all messages. */
export function messagePage(message: DecodedMessage, isListed = false): string {
  const { from, to, subject, text, attachments } = message
  const files = attachments.map(
    ({ filename, content }, index) =>
      html`<li><a href="file/${index}" download>${filename}</a> (${content.length} bytes)</li>`,
  )
  return String(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${subject}</title><link rel="icon" href="data:,">
<style>${raw(STYLE)}</style></head>
<body>
<h1>${subject}</h1>
<dl><dt>From</dt><dd>${from}</dd><dt>To</dt><dd>${to}</dd></dl>
${message.html === null ? '' : html`<h2>HTML</h2><iframe src="html" title="HTML part"></iframe>`}
${text === null ? '' : html`<h2>Text</h2><pre>${text}</pre>`}
${files.length === 0 ? '' : html`<h2>Attachments</h2><ul>${files}</ul>`}
<p><a href="source">Source</a></p>
${isListed ? html`<p><a href="../">All messages</a></p>` : ''}
</body>
</html>`)
}
