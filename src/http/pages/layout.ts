/**
 * The frame around the content of all hosted pages. A page works without scripts, loads nothing,
 * cannot be framed, posts only to its own origin, and sends no referrer to others.
 */
import { hash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { Language } from '../../mail/languages.ts'
import type { HttpResponse } from '../response.ts'
import type { Html } from './phrase.ts'
import { STYLE } from './style.ts'

export type Page = {
  status: number
  language: Language
  title: string
  /** Null on error pages, whose project is not known. */
  projectName: string | null
  content: Html
}

export type Layout = (page: Page) => Promise<HttpResponse>

/** The error text for the address of no page. */
export const NO_SUCH_PAGE = 'There is no such page.'

/** `extraStyle` is added to the style sheet of the pages. */
export function createLayout(extraStyle = ''): Layout {
  const sheet = STYLE + extraStyle
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy(sheet),
    'x-robots-tag': 'noindex, nofollow',
    // With `no-referrer`, browsers send `Origin: null` with a form, and over clear HTTP to other hosts
    // than this machine no Sec-Fetch-Site: the form would seem to come from another site.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  }
  return async (page) => ({
    status: page.status,
    body: String(await document(page, sheet)),
    headers: { ...headers, 'content-language': page.language },
  })
}

/** The pages have an empty icon, so that browsers do not request one. */
function policy(sheet: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', sheet, 'base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function document({ language, title, projectName, content }: Page, sheet: string): Html {
  return html`<!doctype html>
<html lang="${language}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${projectName === null ? title : `${title} · ${projectName}`}</title>
<link rel="icon" href="data:,">
<style>${raw(sheet)}</style>
</head>
<body>
${projectName === null ? '' : html`<header><p><bdi>${projectName}</bdi></p></header>`}
<main>
${content}
</main>
</body>
</html>
`
}
