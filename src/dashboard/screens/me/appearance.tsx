/** Language and zone of the account; theme, density and keys of this browser. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { type User, user } from '../../api/session.ts'
import { browserZone } from '../../logic/format.ts'
import {
  LANGUAGES,
  type LanguageCode,
  locale,
  rememberLanguage,
  setLanguage,
  t,
} from '../../text/text.ts'
import { DENSITIES, density, setDensity, setTheme, THEMES, theme } from '../../ui/appearance.ts'
import { areSingleKeysOn, setSingleKeys } from '../../ui/keys.ts'
import { lazy } from '../../ui/lazy.tsx'
import { Failed } from '../../ui/state.tsx'
import { Suspense } from '../../ui/suspense.tsx'

const Combobox = lazy(() => import('../../ui/combobox.tsx'))

/** An account whose zone is this one never chose: the browser's counts. */
const UNCHOSEN = 'UTC'

type Saving = { state: 'none' | 'saving' | 'saved'; failure?: unknown }

export function Appearance({ self }: { self: User }) {
  const [saving, setSaving] = useState<Saving>({ state: 'none' })
  const save = async (body: { language: string } | { timezone: string }) => {
    setSaving({ state: 'saving' })
    try {
      const { warnings: _, ...changed } = await call('PATCH /users/@me', { body })
      user.value = changed
      setSaving({ state: 'saved' })
    } catch (failure) {
      setSaving({ state: 'none', failure })
    }
  }
  const saveLanguage = async (language: string) => {
    rememberLanguage(language as LanguageCode)
    await setLanguage(language as LanguageCode)
    await save({ language })
  }
  const { failure, state } = saving
  return (
    <section class="section">
      <div class="row between">
        <h2>{t('account.look')}</h2>
        <span class="small muted" role="status">
          {state === 'saving' && t('form.saving')}
          {state === 'saved' && t('form.saved')}
        </span>
      </div>
      {failure !== undefined && <Failed error={failure} title={t('form.failed')} />}
      <div class="preferences">
        <Choice label={t('account.language')} value={languageOf(self)} onChange={saveLanguage}>
          {!(languageOf(self) in LANGUAGES) && (
            <option value={self.language}>{self.language}</option>
          )}
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </Choice>
        <Suspense>
          <Combobox
            label={t('account.zone')}
            value={self.timezone}
            options={zones(self.timezone)}
            onChoose={(timezone) => void save({ timezone })}
          />
        </Suspense>
        <Choice label={t('account.theme')} value={theme.value} onChange={setTheme}>
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {t(`theme.${one}`)}
            </option>
          ))}
        </Choice>
        <Choice label={t('account.density')} value={density.value} onChange={setDensity}>
          {DENSITIES.map((one) => (
            <option key={one} value={one}>
              {t(`density.${one}`)}
            </option>
          ))}
        </Choice>
      </div>
      <SingleKeys />
    </section>
  )
}

/** The language in use, unless the account has one that the interface lacks: mail to the user is in that one. */
function languageOf({ language }: User): string {
  return language.slice(0, 2) in LANGUAGES ? locale() : language
}

type ChoiceProps<Value extends string> = {
  label: string
  value: Value
  onChange(value: Value): void
  children: ComponentChildren
}

function Choice<Value extends string>({ label, value, onChange, children }: ChoiceProps<Value>) {
  return (
    <label class="field">
      <span class="label">{label}</span>
      <select
        class="input"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
      >
        {children}
      </select>
    </label>
  )
}

function zones(chosen: string): { value: string; label: string }[] {
  const known = Intl.supportedValuesOf('timeZone')
  const others = known.includes(chosen) || chosen === UNCHOSEN ? known : [chosen, ...known]
  return [
    { value: UNCHOSEN, label: t('account.zone.browser', { zone: browserZone() }) },
    ...others
      .filter((zone) => zone !== UNCHOSEN)
      .map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })),
  ]
}

/** Single keys can be turned off, because speech input and tremor press them by accident (WCAG 2.1.4). */
function SingleKeys() {
  const [isOn, setOn] = useState(areSingleKeysOn())
  const id = useId()
  const change = (wanted: boolean) => {
    setSingleKeys(wanted)
    setOn(wanted)
  }
  return (
    <div class="key-switch">
      <p class="row">
        <input
          id={id}
          type="checkbox"
          checked={isOn}
          aria-describedby={`${id}-text`}
          onChange={({ currentTarget }) => change(currentTarget.checked)}
        />
        <label for={id}>{t('account.keys')}</label>
      </p>
      <p class="small muted" id={`${id}-text`}>
        {t('account.keys.text')}
      </p>
    </div>
  )
}
