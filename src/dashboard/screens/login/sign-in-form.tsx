/** The form of a log-in: address and password, then in the same place the code of the second factor. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { signedIn } from '../../api/session.ts'
import { t } from '../../text/text.ts'
import { TextField } from '../../ui/field.tsx'
import { useFocusIn } from '../../ui/focus.ts'
import { FieldRefusal, FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { outer } from '../../ui/link.ts'

type Credentials = { email: string; password: string }

/** `address`: stands in the field at first. `isOver`: the form stands over a page that is kept. */
export function SignInForm({
  address = '',
  isOver = false,
}: {
  address?: string
  isOver?: boolean
}) {
  // Kept in memory for the second step only.
  const [proven, setProven] = useState<Credentials>()
  const [typed, setTyped] = useState(address)
  const [isAgain, setAgain] = useState(false)
  if (proven !== undefined) {
    const back = () => {
      setAgain(true)
      setProven(undefined)
    }
    return <CodeForm credentials={proven} onBack={back} />
  }
  return (
    <PasswordForm
      address={typed}
      isOver={isOver}
      startsAtPassword={typed !== '' || isAgain}
      onCodeNeeded={(credentials) => {
        setTyped(credentials.email)
        setProven(credentials)
      }}
    />
  )
}

type PasswordFormProps = {
  address: string
  isOver: boolean
  startsAtPassword: boolean
  onCodeNeeded(credentials: Credentials): void
}

function PasswordForm({ address, isOver, startsAtPassword, onCodeNeeded }: PasswordFormProps) {
  const form = useForm(async (values) => {
    const { email = '', password = '' } = values
    const answer = await call('POST /auth/login', { body: { email, password } })
    if (answer.success) return signedIn()
    if (answer.twoFactor === true) return onCodeNeeded({ email, password })
    throw new FieldRefusal('password', t('door.wrong'))
  })
  useFocusIn(form.props.ref, startsAtPassword ? 'password' : 'email')
  return (
    <FormBox form={form}>
      <TextField
        {...{ form, name: 'email', label: t('door.address'), type: 'email', required: true }}
        autocomplete="username"
        defaultValue={address}
      />
      <TextField
        {...{ form, name: 'password', label: t('door.password'), type: 'password' }}
        required
        autocomplete="current-password"
        aside={
          <a href={outer('/forgot')} {...(isOver && { target: '_blank' })}>
            {t('door.forgotten')}
          </a>
        }
      />
      <FormFailure form={form} />
      <Submit form={form} class="main fill">
        {t('door.signIn')}
      </Submit>
    </FormBox>
  )
}

function CodeForm({ credentials, onBack }: { credentials: Credentials; onBack(): void }) {
  const form = useForm(async ({ code = '' }) => {
    const answer = await call('POST /auth/login', { body: { ...credentials, code: code.trim() } })
    if (answer.success) return signedIn()
    if (answer.twoFactor === true) throw new FieldRefusal('code', t('door.code.wrong'))
    // The password was changed meanwhile.
    throw new FieldRefusal('code', t('door.wrong'))
  })
  useFocusIn(form.props.ref, 'code')
  return (
    <FormBox form={form}>
      <p class="small muted">{credentials.email}</p>
      <TextField
        {...{ form, name: 'code', label: t('door.code'), hint: t('door.code.hint') }}
        required
        autocomplete="one-time-code"
        isLiteral
        maxLength={40}
      />
      <FormFailure form={form} />
      <Submit form={form} class="main fill">
        {t('door.signIn')}
      </Submit>
      <p>
        <button class="btn quiet" type="button" onClick={onBack}>
          {t('door.back')}
        </button>
      </p>
    </FormBox>
  )
}
