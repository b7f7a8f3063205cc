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
import { STYLE } from './style.ts'

export type Page = {
  status: number
  language: Language
  title: string
  /** Null on error pages, whose project is not known. */
  projectName: string | null
  content: Html
  /** What stands before the main part. */
  side?: Html
}

export type Layout = (page: Page) => Promise<HttpResponse>

/** The error text for the address of no page. */
export const NO_SUCH_PAGE = 'There is no such page.'

/** What is added to the style sheet of the pages, and the script at their end. */
type Additions = { style?: string; script?: string }

export function createLayout({ style = '', script = '' }: Additions = {}): Layout {
  const parts = { sheet: STYLE + style, script }
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

type Parts = { sheet: string; script: string }

/** The pages have an empty icon, so that browsers do not request one. */
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

function document(
  { language, title, projectName, content, side }: Page,
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
${projectName === null ? '' : html`<header><p><bdi>${projectName}</bdi></p></header>`}
${side ?? ''}<main>
${content}
</main>
${script === '' ? '' : html`<script>${raw(script)}</script>`}
</body>
</html>
`
}
