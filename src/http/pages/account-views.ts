/**
 * The pages that mail to users links to: confirming an address, and choosing a new password. Opening a
 * page changes nothing, so scanners of links do no harm; its form does.
 */
import { html } from 'hono/html'
import type { Language } from '../../texts/languages.ts'
import { textsOf } from '../../texts/texts.ts'
import type { Page } from './layout.ts'
import type { Html } from './phrase.ts'
import { ENVELOPE, heading, icon, TICK } from './views.ts'

/** `minLength`, `maxLength`: of a password. */
type PasswordRule = { minLength: number; maxLength: number }

export function verifyView(language: Language, token: string): Page {
  const { title, ask, button } = textsOf(language).account.verify
  return page(language, title, [
    icon(ENVELOPE),
    heading(title),
    html`<p>${ask}</p>
<form method="post" action="../verify-email">
<input type="hidden" name="token" value="${token}">
<button type="submit">${button}</button>
</form>
`,
  ])
}

export function verifiedView(language: Language): Page {
  return doneView(language, textsOf(language).account.verified)
}

type Reset = PasswordRule & {
  token: string
  /** Of the account. */
  address: string
  /** The last password broke the rule. */
  isRefused: boolean
}

/** The form names the account too, for programs that keep passwords. */
export function resetView(
  language: Language,
  { token, address, isRefused, minLength, maxLength }: Reset,
): Page {
  const { title, label, rule, button } = textsOf(language).account.reset
  const state = isRefused ? html` aria-invalid="true" autofocus` : ''
  return page(language, title, [
    heading(title),
    html`<p class="muted"><bdi>${address}</bdi></p>
<form method="post" action="../reset-password">
<input type="hidden" name="token" value="${token}">
<input type="email" autocomplete="username" value="${address}" readonly hidden>
<label for="password">${label}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required \
minlength="${minLength}" maxlength="${maxLength}" aria-describedby="rule"${state}>
<p id="rule" class="${isRefused ? 'fault' : 'muted'}">${rule}</p>
<button type="submit">${button}</button>
</form>
`,
  ])
}

/** The page of the link says how to log in, which this page asks for. */
export function changedView(language: Language): Page {
  const logIn = textsOf(language).app.login.title
  const shown = doneView(language, textsOf(language).account.changed)
  const link = html`<p><a class="button" href="../app/login">${logIn}</a></p>\n`
  return { ...shown, content: html`${shown.content}${link}` }
}

/** For a link that is unknown, used or expired. */
export function expiredView(language: Language): Page {
  const { title, text } = textsOf(language).account.expired
  return { ...page(language, title, [heading(title), html`<p>${text}</p>`]), status: 404 }
}

function doneView(language: Language, { title, text }: { title: string; text: string }): Page {
  return page(language, title, [icon(TICK, 'done'), heading(title), html`<p>${text}</p>`])
}

function page(language: Language, title: string, content: Html[]): Page {
  return { status: 200, language, title, projectName: null, content: html`${content}` }
}
