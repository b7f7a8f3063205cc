/**
 * The pages for users until there is a dashboard: those at `/app`, where logins end, and the page of an
 * invitation.
 */
import { html } from 'hono/html'
import type { ShownInvitation } from '../../features/tenancy/accounts/invitations/show.ts'
import { LOGIN_FAILURES } from '../../features/tenancy/accounts/oauth/login-failure.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../records/limits.ts'
import { fillPieces, type PlaceholderValues } from '../../texts/fill.ts'
import type { Language } from '../../texts/languages.ts'
import { type Texts, textsOf } from '../../texts/texts.ts'
import type { HtmlPage } from './layout.ts'
import { type Html, phrase } from './phrase.ts'

const PLACEHOLDER = 'you@example.org'

type ProviderLink = { label: string; url: string }

/** `docs`, `logOut`: paths. `baseUrl`: the address of the API in the calls that the page shows. */
type HomeInput = {
  language: Language
  address: string
  /** Newest first. */
  projects: readonly { id: string; name: string }[]
  baseUrl: string
  docs: string
  logOut: string
}

/** `failure`: the code in the query. Anyone may have written it, so it selects a text and is never shown. */
type LoginInput = {
  language: Language
  failure: string | undefined
  providers: readonly ProviderLink[]
  isSignUpOpen: boolean
  baseUrl: string
  docs: string
}

type InvitationTexts = Texts['invitation']

type OpenInvitation = Extract<ShownInvitation, { state: 'open' }>

/** `isWrongPassword`: the password that was sent cannot be used. */
type InvitationInput = { language: Language; isWrongPassword?: boolean }

type Choice = { language: Language; texts: InvitationTexts }

const JSON_HEADER = "-H 'Content-Type: application/json'"

/**
 * The page after a login. There is no dashboard, so it shows how a program calls the API, for each
 * of the user's projects.
 */
export function homeView(input: HomeInput): HtmlPage {
  const { language, address, projects, baseUrl, docs, logOut } = input
  const { home } = textsOf(language).app
  return page(language, home.title, [
    html`<p>${fill(home.text, { email: address })}</p>\n<p>${home.next}</p>\n`,
    ...projects.map(
      ({ id, name }) => html`<p><strong><bdi>${name}</bdi></strong><br><code>${id}</code></p>\n`,
    ),
    showCalls(
      logInCall(baseUrl, address),
      projects[0] === undefined
        ? sessionCall(`${baseUrl}/users/@me/projects`, { name: '…' })
        : `curl -sS -b cookies.txt -H 'X-Project-Id: ${projects[0].id}' ${baseUrl}/contacts`,
    ),
    html`<form method="post" action="${logOut}">
<button type="submit" class="quiet">${home.logOut}</button>
</form>
`,
    link(docs, home.docs),
  ])
}

/** The page for logging in. It has no form for passwords, and shows how a program logs in. */
export function loginView(input: LoginInput): HtmlPage {
  const { language, failure, providers, isSignUpOpen, baseUrl, docs } = input
  const { login, home, failures } = textsOf(language).app
  const buttons = providers.map(
    ({ label, url }) =>
      html`<p><a class="button" href="${url}"><span>${fill(login.with, { provider: label })}</span></a></p>\n`,
  )
  return page(language, login.title, [
    failure === undefined
      ? html``
      : html`<p class="note" role="alert">${textOf(failures, failure)}</p>\n`,
    ...buttons,
    html`<p>${login.api}</p>\n`,
    showCalls(logInCall(baseUrl, PLACEHOLDER)),
    ...(isSignUpOpen
      ? [
          html`<p>${login.signUp}</p>\n`,
          showCalls(accountCall(`${baseUrl}/auth/signup`, PLACEHOLDER)),
        ]
      : [html`<p class="muted">${login.closed}</p>\n`]),
    link(docs, home.docs),
  ])
}

export function appErrorView(status: number, language: Language, home: string): HtmlPage {
  const texts = textsOf(language).app
  const { title, text } = status === 404 ? texts.notFound : texts.failed
  const shown = page(language, title, [html`<p>${text}</p>\n`, link(home, texts.notFound.home)])
  return { ...shown, status }
}

function page(language: Language, title: string, content: readonly Html[]): HtmlPage {
  const body = html`<h1>${title}</h1>\n${content}`
  return { status: 200, language, title, projectName: null, content: body }
}

function textOf(failures: Texts['app']['failures'], failure: string): string {
  return failures[LOGIN_FAILURES.find((code) => code === failure) ?? 'other']
}

/** `text` with the names in place of its placeholders, apart from the direction of the text around them. */
function fill(text: string, names: PlaceholderValues): Html {
  return html`${fillPieces(text, names, (name) => html`<bdi>${name}</bdi>`)}`
}

function link(href: string, text: string): Html {
  return html`<nav><ul><li><a href="${href}">${text}</a></li></ul></nav>\n`
}

/** The page of an invitation, with the choices of its reader. */
export function invitationView(
  invitation: ShownInvitation,
  { language, isWrongPassword = false }: InvitationInput,
): HtmlPage {
  const texts = textsOf(language).invitation
  const { projectName, address } = invitation
  const isOpen = invitation.state === 'open'
  const title = isOpen ? texts.title : texts.accepted.title
  const content = isOpen
    ? html`${describe(invitation, texts)}${isWrongPassword ? fault(texts.wrongPassword) : ''}${choice(invitation, { texts, language })}`
    : html`<p>${phrase(texts.accepted.text, { project: projectName, email: address })}</p>
${buttonLink('../app', texts.accepted.button)}`
  const status = isWrongPassword ? 422 : 200
  const body = html`<h1>${title}</h1>\n${content}`
  return { status, language, title, projectName, hasMark: true, content: body }
}

/** The page for an invitation that is not open. */
export function goneInvitationView(language: Language): HtmlPage {
  const { title, text } = textsOf(language).invitation.gone
  const content = html`<h1>${title}</h1>\n<p>${text}</p>`
  return { status: 404, language, title, projectName: null, hasMark: true, content }
}

function describe(invitation: OpenInvitation, texts: InvitationTexts): Html {
  const { projectName: project, inviterAddress: inviter, address: email, role } = invitation
  return html`<p>${phrase(texts.text, { project, inviter, email })}</p>
<p class="muted">${texts.role[role]}</p>
`
}

/** The choices of the reader. A person with an account logs in at the dashboard first. */
function choice(
  { isProjectDisabled, address, reader }: OpenInvitation,
  { texts, language }: Choice,
): Html {
  if (isProjectDisabled) return note(html`${texts.closed}`)
  switch (reader) {
    case 'invited':
      return form(html``, texts.accept)
    case 'bound':
      return note(html`${texts.bound}`)
    case 'newcomer':
      return html`<p>${texts.newcomer}</p>\n${form(passwordField(address, texts), texts.accept)}`
    case 'known':
      return html`${note(phrase(texts.logIn.text, { email: address }))}${buttonLink('../app/login', texts.logIn.button)}`
    case 'other':
      return html`${note(html`${texts.other}`)}${logOutForm(language)}`
  }
}

function form(fields: Html, button: string): Html {
  return html`<form method="post">
${fields}<button type="submit">${button}</button>
</form>
`
}

function logOutForm(language: Language): Html {
  return html`<form method="post" action="../app/logout">
<button type="submit">${textsOf(language).app.home.logOut}</button>
</form>
`
}

/** The address is there for password managers, which store it with the password. */
function passwordField(address: string, { password }: InvitationTexts): Html {
  return html`<input type="email" value="${address}" autocomplete="username" readonly hidden>
<label for="password">${password}</label>
<input type="password" id="password" name="password" autocomplete="new-password" required \
minlength="${MIN_PASSWORD_LENGTH}" maxlength="${MAX_PASSWORD_LENGTH}">
`
}

function buttonLink(href: string, text: string): Html {
  return html`<p><a class="button" href="${href}">${text}</a></p>\n`
}

function note(text: Html): Html {
  return html`<p class="note">${text}</p>\n`
}

function fault(text: string): Html {
  return html`<p class="fault" role="alert">${text}</p>\n`
}

/** Shows calls of the API as commands for a terminal, the same in each language. */
function showCalls(...lines: string[]): Html {
  return html`<pre dir="ltr"><code>${lines.join('\n\n')}</code></pre>\n`
}

function logInCall(baseUrl: string, address: string): string {
  return accountCall(`${baseUrl}/auth/login`, address)
}

/**
 * A command that sends address and password, and keeps the session's cookie in the file
 * `cookies.txt`.
 */
function accountCall(url: string, address: string): string {
  return `curl -sS -c cookies.txt ${url} ${sending({ email: address, password: '…' })}`
}

/** A command that makes a call with the session's cookie in `cookies.txt`. */
function sessionCall(url: string, body: object): string {
  return `curl -sS -b cookies.txt ${url} ${sending(body)}`
}

/**
 * The arguments that send `body` as JSON. The text stands in single quotes for the shell, so a
 * single quote in it is written outside of them.
 */
function sending(body: object): string {
  return `${JSON_HEADER} -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
}
