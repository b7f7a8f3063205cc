/** Texts of signing in and signing up. */
export const door = {
  'door.languages': 'Language',
  'door.signIn': 'Sign in',
  'door.address': 'Address',
  'door.address.hint': 'You get a mail there to verify it.',
  'door.password': 'Password',
  'door.forgotten': 'Forgotten?',
  'door.wrong': 'The email address or the password is wrong.',
  'door.code': 'Code',
  'door.code.hint': 'Six digits of your authenticator app, or a recovery code.',
  'door.code.wrong': 'This code is wrong, or was used before.',
  'door.back': 'Back',
  'door.or': 'or',
  'door.with': 'Continue with {provider}',
  'door.invited': 'Accounts are made by invitation. Ask an owner of your project.',
  'door.makeAccount': 'Make an account',
  'door.haveAccount': 'You have an account?',
  'door.toSignIn': 'Back to the sign-in',
  'door.closed':
    'This server takes no new accounts by itself. Ask an owner of your project for an invitation, or the operator of this server for an account.',
  'door.unverified': 'Verify your address',
  'door.unverified.text':
    'A mail with a link is on its way to {email}. Open the link, and this page goes on.',
  'door.unverified.resend': 'Send another mail',
  'door.unverified.sent': 'Another mail is on its way.',
  'door.unverified.done': 'I have opened the link',
  'door.forgot': 'Choose a new password',
  'door.forgot.hint': 'A mail with a link goes there. The link works for an hour.',
  'door.forgot.send': 'Send the link',
  'door.forgot.sent': 'Look into your mail',
  'door.forgot.sent.text':
    'If {email} has an account with a password here, a mail with a link is on its way.',
  'door.forgot.none':
    'No mail? Look into the folder for spam. Not all servers mail to their users: the operator of this one can give you a new password.',
  'door.again': 'Sign in again',
  'door.again.text':
    'Your session has ended. Sign in, and this page goes on where it was: nothing that you typed is lost.',
  'door.again.tab': 'The sign-in opens in another tab. Come back here when it is done.',
  'door.again.done': 'I have signed in',
  'door.again.notYet': 'You are not signed in yet',
  'door.failure.access_denied': 'You cancelled the sign-in, or the provider refused it.',
  'door.failure.state_mismatch':
    'This sign-in was not begun in this browser, or it was used already. Sign in again.',
  'door.failure.expired': 'The sign-in took too long. Sign in again.',
  'door.failure.email_unverified':
    'Your account at the provider has no verified email address. Verify it there, and sign in again.',
  'door.failure.method_mismatch':
    'Your email address already has an account here with another way to sign in. Use that one.',
  'door.failure.signup_disabled':
    'You have no account here, and new accounts are not allowed. Ask the operator of this server for one.',
  'door.failure.setup_needed':
    'This server is not set up yet. Its first user is made with the set-up link.',
  'door.failure.address_refused':
    'New accounts cannot have your email address: it is disposable, has a plus sign, or its domain receives no mail.',
  'door.failure.provider_error': 'The provider did not answer as it should. Try again in a moment.',
  'door.failure.too_many_attempts':
    'There were too many sign-ins from your network. Wait a minute.',
  'door.failure.unavailable': 'This server cannot sign you in at the moment. Try again later.',
  'door.failure.other': 'The sign-in failed. Try again.',
} as const
