/** The page of an invitation to a project. */
import { html } from 'hono/html'
import type { ShownInvitation } from '../../features/tenancy/accounts/invitations/show.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../records/limits.ts'
import type { Language } from '../../texts/languages.ts'
import { type Texts, textsOf } from '../../texts/texts.ts'
import type { HtmlPage } from './layout.ts'
import { type Html, phrase } from './phrase.ts'

type InvitationTexts = Texts['invitation']

type OpenInvitation = Extract<ShownInvitation, { state: 'open' }>

/** `isWrongPassword`: the password that was sent cannot be used. */
type InvitationInput = { language: Language; isWrongPassword?: boolean }

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
    ? html`${describe(invitation, texts)}${isWrongPassword ? fault(texts.wrongPassword) : ''}${choice(invitation, texts)}`
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

/** The choices of the reader. A person with an account logs in at the dashboard, and comes back. */
function choice(
  { isProjectDisabled, address, reader }: OpenInvitation,
  texts: InvitationTexts,
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
      return html`${note(html`${texts.other}`)}${logOutForm(texts)}`
  }
}

function form(fields: Html, button: string): Html {
  return html`<form method="post">
${fields}<button type="submit">${button}</button>
</form>
`
}

function logOutForm({ logOut }: InvitationTexts): Html {
  return html`<form method="post" action="../app/logout">
<button type="submit">${logOut}</button>
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
