/**
 * The frame around the content of all hosted pages. A page works without scripts, loads nothing,
 * cannot be framed, posts only to its own origin, and sends no referrer to others. The guide alone has a
 * script, which is part of the page.
 */
import { hash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { Language } from '../../texts/languages.ts'
import type { HttpResponse } from '../response.ts'
import type { Html } from './phrase.ts'
import { makeSheet } from './sheet.ts'

export type HtmlPage = {
  status: number
  language: Language
  title: string
  /** Null on error pages, whose project is not known. */
  projectName: string | null
  /** Whether the page is of the server and not of a project: it has the mark of the product in place of a name. */
  hasMark?: boolean
  content: Html
  /** What stands before the main part. */
  side?: Html
}

export type Layout = (page: HtmlPage) => Promise<HttpResponse>

/** The error text for the address of no page. */
export const NO_SUCH_PAGE = 'There is no such page.'

/** `style`: added to the style sheet of the pages. `script`: stands at the end of the page. */
type Additions = { style?: string; script?: string }

type Parts = { sheet: string; script: string }

export function createLayout({ style = '', script = '' }: Additions = {}): Layout {
  const parts = { sheet: makeSheet(style), script }
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy(parts),
    'x-robots-tag': 'noindex, nofollow',
    // With `no-referrer`, browsers send `Origin: null` with a form, and over clear HTTP to other hosts
    // than this machine no Sec-Fetch-Site: the form would seem to come from another site.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  }
  return async (page) => ({
    status: page.status,
    body: String(await document(page, parts)),
    headers: { ...headers, 'content-language': page.language },
  })
}

/**
 * The content security policy of a page. It allows `data:` images, because the pages have an empty
 * icon, so that browsers do not request one.
 */
function policy({ sheet, script }: Parts): string {
  const digest = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`
  return [
    "default-src 'none'",
    `style-src ${digest(sheet)}`,
    ...(script === '' ? [] : [`script-src ${digest(script)}`]),
    'img-src data:',
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** As `Mark` of the dashboard. */
const MARK = html`<header><p><svg class="mark" viewBox="0 0 24 24" aria-hidden="true">\
<path class="box" d="M6 21.5V7.5a6 6 0 0 1 12 0v14z"/><path class="slot" d="M8.25 9.25h7.5V11h-7.5z"/>\
<path class="plate" d="M9.25 13h5.5v4h-5.5z"/><path class="base" d="M5 20.5h14V23H5z"/></svg>\
Pillarbox</p></header>`

function document(
  { language, title, projectName, hasMark = false, content, side }: HtmlPage,
  { sheet, script }: Parts,
): Html {
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
${hasMark ? MARK : projectName === null ? '' : html`<header><p><bdi>${projectName}</bdi></p></header>`}
${side ?? ''}<main>
${content}
</main>
${script === '' ? '' : html`<script>${raw(script)}</script>`}
</body>
</html>
`
}
