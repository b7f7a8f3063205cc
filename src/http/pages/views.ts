/**
 * The hosted pages for contacts, and the pages that mail to users links to (confirming an address,
 * choosing a new password). Each page shows the current state and depends on nothing else: a
 * contact that has unsubscribed sees this state and not the question again. So going back,
 * reloading and pressing a button twice do no harm.
 */
import { html } from 'hono/html'
import type { PageContact } from '../../features/people/contacts/read/public-contact.ts'
import type { Language } from '../../texts/languages.ts'
import { type Texts, textsOf } from '../../texts/texts.ts'
import type { HtmlPage } from './layout.ts'
import { type Html, phrase } from './phrase.ts'

export type View = (input: PageInput) => HtmlPage

/** A contact that opens a page. */
type PageInput = {
  contact: PageContact
  /** The last part of this contact's links: token and query. */
  link: string
}

/** The values of the field `wish` in the forms of the pages. */
type Wish = 'subscribe' | 'unsubscribe'

const ENVELOPE = 'M3 6.5h18v11H3zM3.5 7l8.5 6.5L20.5 7'
const TICK = 'M5 12.5l4.5 4.5L19 7.5'

export const unsubscribeView: View = (input) => {
  const { contact, link } = input
  const { unsubscribe, unsubscribed, manage } = textsOf(contact.language).contact
  if (contact.subscribed) {
    const { title, ask, button } = unsubscribe
    return page(input, title, [
      icon(ENVELOPE),
      heading(title),
      paragraph(ask, contact),
      form('unsubscribe', button),
      links([{ href: `../manage/${link}`, text: manage.link }]),
    ])
  }
  const { title, text, note, again } = unsubscribed
  return page(input, title, [
    icon(TICK, 'done'),
    heading(title),
    paragraph(text, contact),
    html`<p class="muted">${note}</p>`,
    links([
      { href: `../subscribe/${link}`, text: again },
      { href: `../manage/${link}`, text: manage.link },
    ]),
  ])
}

export const subscribeView: View = (input) => {
  const { contact, link } = input
  const texts = textsOf(contact.language).contact
  const toManage = links([{ href: `../manage/${link}`, text: texts.manage.link }])
  if (contact.subscribed) {
    const { title, text } = texts.subscribed
    return page(input, title, [
      icon(TICK, 'done'),
      heading(title),
      paragraph(text, contact),
      suppressionNote(contact, texts),
      toManage,
    ])
  }
  const { title, ask, button } = texts.subscribe
  return page(input, title, [
    icon(ENVELOPE),
    heading(title),
    paragraph(ask, contact),
    form('subscribe', button),
    toManage,
  ])
}

export const manageView: View = (input) => {
  const { contact } = input
  const texts = textsOf(contact.language).contact
  const { title, what, on, off } = texts.manage
  const [state, button] = contact.subscribed
    ? [html`<p class="state on">${on}</p>`, form('unsubscribe', texts.unsubscribe.button, 'quiet')]
    : [html`<p class="state">${off}</p>`, form('subscribe', texts.subscribe.button)]
  return page(input, title, [
    heading(title),
    html`<p class="muted"><bdi>${namesOf(contact).email}</bdi></p>`,
    html`<section class="choice" aria-labelledby="what">
<h2 id="what">${phrase(what, namesOf(contact))}</h2>
${state}
${button}
</section>`,
    suppressionNote(contact, texts),
  ])
}

/** Shown in place of an address that was deleted except for its digest. */
const UNKNOWN_ADDRESS = '…@…'

/** `minLength`, `maxLength`: of a password. */
type PasswordRule = { minLength: number; maxLength: number }

type Reset = PasswordRule & {
  token: string
  /** The address of the account. */
  address: string
  /** The last password broke the rule. */
  isRefused: boolean
}

/** The page for an invalid link or an error. */
export function errorView(status: number, language: Language): HtmlPage {
  const { notFound, failed } = textsOf(language).contact
  const { title, text } = status === 404 ? notFound : failed
  const content = html`${heading(title)}<p>${text}</p>`
  return { status, language, title, projectName: null, content }
}

/** The page of a signed link whose contact and email were deleted without a trace. */
export function goneView(language: Language): HtmlPage {
  const { notFound, gone } = textsOf(language).contact
  const { title } = notFound
  const content = html`${heading(title)}<p>${gone}</p>`
  return { status: 410, language, title, projectName: null, content }
}

function page({ contact }: PageInput, title: string, content: Html[]): HtmlPage {
  const { language, projectName } = contact
  return { status: 200, language, title, projectName, content: html`${content}` }
}

function heading(title: string): Html {
  return html`<h1>${title}</h1>\n`
}

function paragraph(text: string, contact: PageContact): Html {
  return html`<p>${phrase(text, namesOf(contact))}</p>\n`
}

function form(wish: Wish, button: string, kind: 'plain' | 'quiet' = 'plain'): Html {
  return html`<form method="post">
<input type="hidden" name="wish" value="${wish}">
<button type="submit" class="${kind}">${button}</button>
</form>
`
}

function links(items: readonly { href: string; text: string }[]): Html {
  const list = items.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>`)
  return html`<nav><ul>${list}</ul></nav>\n`
}

/** Tells a subscribed contact whose address is suppressed that no mail will be sent. */
function suppressionNote(contact: PageContact, { suppressed }: Texts['contact']): Html {
  if (!contact.isSuppressed || !contact.subscribed) return html``
  return html`<p class="note">${phrase(suppressed, namesOf(contact))}</p>\n`
}

function namesOf({ projectName, address }: PageContact) {
  return { project: projectName, email: address ?? UNKNOWN_ADDRESS }
}

function icon(path: string, kind: 'asking' | 'done' = 'asking'): Html {
  return html`<div class="sign ${kind}" aria-hidden="true"><svg viewBox="0 0 24 24" fill="none" \
stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">\
<path d="${path}"/></svg></div>
`
}

/** Asks a user to confirm an address. Opening the page changes nothing, so scanners of links do no harm. */
export function verifyView(language: Language, token: string): HtmlPage {
  const { title, ask, button } = textsOf(language).account.verify
  return accountPage(language, title, [
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

/** The page after an address was confirmed. It leads to the dashboard. */
export function verifiedView(language: Language): HtmlPage {
  const goOn = textsOf(language).invitation.accepted.button
  return doneView(language, textsOf(language).account.verified, { href: '../app', text: goOn })
}

/** The page for choosing a new password. The form has the address of the account for password managers. */
export function resetView(
  language: Language,
  { token, address, isRefused, minLength, maxLength }: Reset,
): HtmlPage {
  const { title, label, rule, button } = textsOf(language).account.reset
  const state = isRefused ? html` aria-invalid="true" autofocus` : ''
  return accountPage(language, title, [
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

/** The page after a password was changed. It asks the user to log in, and leads to where that is done. */
export function changedView(language: Language): HtmlPage {
  const { changed } = textsOf(language).account
  return doneView(language, changed, { href: '../app/login', text: changed.button })
}

/** The page for a link that is unknown, used or expired. */
export function expiredView(language: Language): HtmlPage {
  const { title, text } = textsOf(language).account.expired
  return { ...accountPage(language, title, [heading(title), html`<p>${text}</p>`]), status: 404 }
}

function doneView(
  language: Language,
  { title, text }: { title: string; text: string },
  next: { href: string; text: string },
): HtmlPage {
  return accountPage(language, title, [
    icon(TICK, 'done'),
    heading(title),
    html`<p>${text}</p>
<p><a class="button" href="${next.href}">${next.text}</a></p>
`,
  ])
}

function accountPage(language: Language, title: string, parts: Html[]): HtmlPage {
  const content = html`${parts}`
  return { status: 200, language, title, projectName: null, hasMark: true, content }
}
