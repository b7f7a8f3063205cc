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

export type HtmlPage = {
  status: number
  language: Language
  title: string
  /** Null on error pages, whose project is not known. */
  projectName: string | null
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

/**
 * The style sheet of the hosted pages. It is part of each page, so that pages load nothing and the
 * policy can name it by its hash. Text has a contrast of at least 7:1 in both colour schemes,
 * buttons and links are 44 pixels high, and the pages fit into a width of 320 pixels.
 */
const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f7;
  --card: #ffffff;
  --line: #dcdfe6;
  --text: #1b1f29;
  --muted: #4a5160;
  --accent: #2a46b8;
  --on-accent: #ffffff;
  --tint: #e8ecfb;
  --good: #0c5c3a;
  --good-tint: #e0f3e9;
  --bad: #8f1d1d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #13151b;
    --card: #1c1f27;
    --line: #363b47;
    --text: #eef0f5;
    --muted: #b9bfcc;
    --accent: #a9baff;
    --on-accent: #10142a;
    --tint: #272d42;
    --good: #8fe0b5;
    --good-tint: #17352a;
    --bad: #ffb4b4;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  padding: 2rem 1rem 3rem;
  background: var(--ground);
  color: var(--text);
  font: 1.0625rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  overflow-wrap: anywhere;
}
header, main { max-width: 31rem; margin: 0 auto; }
header p { margin: 0 0 1rem; text-align: center; font-weight: 600; color: var(--muted); }
main {
  padding: 2.25rem 2rem 1.5rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 1rem;
  box-shadow: 0 1px 2px rgb(0 0 0 / 4%), 0 12px 32px rgb(0 0 0 / 6%);
}
@media (min-height: 40rem) and (min-width: 30rem) {
  body { padding-top: 12vh; }
  main { padding: 2.75rem 2.5rem 1.75rem; }
}
@media (max-width: 24rem) { main { padding: 1.75rem 1.25rem 1rem; } }
.sign {
  display: grid;
  place-items: center;
  width: 3.5rem;
  height: 3.5rem;
  margin: 0 0 1.25rem;
  border-radius: 50%;
  background: var(--tint);
  color: var(--accent);
}
.sign.done { background: var(--good-tint); color: var(--good); }
.sign svg { width: 1.75rem; height: 1.75rem; }
h1 { margin: 0 0 .5rem; font-size: 1.625rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
h2 { margin: 0 0 .25rem; font-size: 1.0625rem; line-height: 1.4; }
p { margin: 0 0 1rem; }
strong { font-weight: 600; }
code { font-size: .9375rem; }
pre { margin: 0 0 1rem; padding: .875rem 1rem; border-radius: .625rem; background: var(--ground); white-space: pre-wrap; }
.muted { color: var(--muted); }
.note { padding: .875rem 1rem; border-radius: .625rem; background: var(--tint); }
.note[role=alert] { margin-bottom: 1.5rem; }
.choice { margin: 1.25rem 0 1rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: .75rem; }
.choice form { margin: 1rem 0 0; }
.state { display: flex; align-items: center; gap: .5rem; margin: 0; color: var(--muted); }
.state::before { content: ''; flex: none; width: .625rem; height: .625rem; border: 2px solid; border-radius: 50%; }
.state.on { color: var(--good); }
.state.on::before { background: currentcolor; }
form { margin: 1.5rem 0 1.25rem; }
label { display: block; margin: 0 0 .375rem; font-weight: 600; }
input:not([type=hidden]) {
  width: 100%;
  min-height: 3rem;
  padding: .625rem .875rem;
  border: 1px solid var(--muted);
  margin: 0 0 1rem;
  border-radius: .625rem;
  background: var(--ground);
  color: var(--text);
  font: inherit;
}
input[aria-invalid=true] { border-color: var(--bad); }
.fault { font-weight: 600; color: var(--bad); }
input + p { margin-top: -.625rem; }
a.button {
  display: flex;
  align-items: center;
  justify-content: center;
  min-height: 3rem;
  padding: .625rem 1.25rem;
  border: 1px solid var(--accent);
  border-radius: .625rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-align: center;
  text-decoration: none;
}
a.button:hover { text-decoration: underline; text-underline-offset: .2em; }
button {
  width: 100%;
  min-height: 3rem;
  padding: .625rem 1.25rem;
  border: 1px solid var(--accent);
  border-radius: .625rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover { text-decoration: underline; text-underline-offset: .2em; }
button.quiet { background: transparent; color: var(--accent); }
nav { margin: 1.25rem 0 0; border-top: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; column-gap: 1.5rem; margin: .5rem 0 0; padding: 0; list-style: none; }
a { color: var(--accent); text-underline-offset: .2em; }
nav a { display: inline-flex; align-items: center; min-height: 2.75rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .375rem; }
button:focus-visible { border-radius: .625rem; }
`

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

function document(
  { language, title, projectName, content, side }: HtmlPage,
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
