/**
 * The second factor: a secret for the authenticator app as a QR code, its first code, and recovery codes, which
 * are shown this once.
 */
import { useRef, useState } from 'preact/hooks'
import { type Answer, call } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import { user } from '../../api/session.ts'
import { t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { useFocusIn } from '../../ui/focus.ts'
import { type Form, FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { Qr } from '../../ui/qr.tsx'
import { Status } from '../../ui/status.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { SESSIONS } from './sessions.tsx'

type Secret = Answer<'POST /users/@me/totp'>

const WORDS = {
  'password.custom': 'account.password.wrong',
  'code.custom': 'door.code.wrong',
} as const

type Shown =
  | { step: 'state' }
  | { step: 'password' }
  | { step: 'secret'; secret: Secret }
  | { step: 'codes'; codes: readonly string[] }
  | { step: 'off' }

export function SecondFactor({ isOn }: { isOn: boolean }) {
  const [shown, setShown] = useState<Shown>({ step: 'state' })
  const heading = useRef<HTMLHeadingElement>(null)
  const close = () => {
    setShown({ step: 'state' })
    heading.current?.focus()
  }
  return (
    <section class="section">
      <div class="row">
        <h2 class="grow" ref={heading} tabIndex={-1}>
          {t('account.factor')}
        </h2>
        <Status tone={isOn ? 'good' : 'off'}>
          {t(isOn ? 'account.factor.on' : 'account.factor.off')}
        </Status>
      </div>
      {shown.step === 'state' && (
        <div class="stack">
          <p class="muted">{t('account.factor.text')}</p>
          <p>
            <button
              class="btn"
              type="button"
              onClick={() => setShown({ step: isOn ? 'off' : 'password' })}
            >
              {t(isOn ? 'account.factor.turnOff' : 'account.factor.turnOn')}
            </button>
          </p>
        </div>
      )}
      {shown.step === 'password' && (
        <PasswordStep
          onSecret={(secret) => setShown({ step: 'secret', secret })}
          onCancel={close}
        />
      )}
      {shown.step === 'secret' && (
        <SecretStep
          secret={shown.secret}
          onCodes={(codes) => setShown({ step: 'codes', codes })}
          onCancel={close}
        />
      )}
      {shown.step === 'codes' && <RecoveryCodes codes={shown.codes} onDone={close} />}
      {shown.step === 'off' && <OffStep onDone={close} />}
    </section>
  )
}

type PasswordStepProps = { onSecret(secret: Secret): void; onCancel(): void }

function PasswordStep({ onSecret, onCancel }: PasswordStepProps) {
  const form = useForm(
    async ({ password = '' }) =>
      onSecret(await call('POST /users/@me/totp', { body: { password } })),
    { words: WORDS },
  )
  useFocusIn(form.props.ref, 'password')
  return (
    <FormBox form={form} class="stack short-form">
      <Password form={form} />
      <FormFailure form={form} />
      <Buttons form={form} text={t('form.next')} onCancel={onCancel} />
    </FormBox>
  )
}

type SecretStepProps = {
  secret: Secret
  onCodes(codes: readonly string[]): void
  onCancel(): void
}

function SecretStep({ secret, onCodes, onCancel }: SecretStepProps) {
  const form = useForm(
    async ({ code = '' }) => {
      const { recoveryCodes } = await call('POST /users/@me/totp/confirm', {
        body: { code: code.trim() },
      })
      setFactor(true)
      onCodes(recoveryCodes)
    },
    { words: WORDS },
  )
  useFocusIn(form.props.ref, 'code')
  return (
    <FormBox form={form}>
      <p>{t('account.factor.scan')}</p>
      <div class="secret">
        <Qr text={secret.uri} label={t('account.factor.qr')} />
        <div class="stack">
          <p class="small muted">{t('account.factor.type')}</p>
          <p class="fix">
            <code class="code wrap">{secret.secret}</code>
            <Copy text={secret.secret} isIcon />
          </p>
          <Code form={form} hint={t('account.factor.first')} />
          <FormFailure form={form} />
          <Buttons form={form} text={t('account.factor.turnOn')} onCancel={onCancel} />
        </div>
      </div>
    </FormBox>
  )
}

function OffStep({ onDone }: { onDone(): void }) {
  const form = useForm(
    async ({ password = '', code = '' }) => {
      await call('DELETE /users/@me/totp', { body: { password, code: code.trim() } })
      setFactor(false)
      onDone()
    },
    { words: WORDS },
  )
  useFocusIn(form.props.ref, 'password')
  return (
    <FormBox form={form} class="stack short-form">
      <Password form={form} />
      <Code form={form} hint={t('door.code.hint')} />
      <FormFailure form={form} />
      <Buttons form={form} text={t('account.factor.turnOff')} onCancel={onDone} />
    </FormBox>
  )
}

function Password({ form }: { form: Form }) {
  return (
    <TextField
      {...{ form, name: 'password', label: t('account.password.current') }}
      {...{ type: 'password', required: true }}
      autocomplete="current-password"
    />
  )
}

function Code({ form, hint }: { form: Form; hint: string }) {
  return (
    <TextField
      {...{ form, name: 'code', label: t('door.code'), hint, required: true }}
      autocomplete="one-time-code"
      isLiteral
      maxLength={40}
    />
  )
}

function Buttons({ form, text, onCancel }: { form: Form; text: string; onCancel(): void }) {
  return (
    <p class="row">
      <Submit form={form}>{text}</Submit>
      <button class="btn quiet" type="button" onClick={onCancel}>
        {t('account.cancel')}
      </button>
    </p>
  )
}

function setFactor(isOn: boolean): void {
  if (user.value !== undefined) user.value = { ...user.value, twoFactor: isOn }
  void queryClient.invalidateQueries({ queryKey: [SESSIONS] })
}
