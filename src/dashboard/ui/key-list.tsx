/** All keys that act on this page: those of everywhere, and those of the screen. */

import { keys as keyTexts } from '../text/en/keys.ts'
import { addTexts, t } from '../text/text.ts'
import { Dialog } from './dialog.tsx'
import { areSingleKeysOn, type Binding, bindings } from './keys.ts'

addTexts(keyTexts)

export default function KeyList({ onClose }: { onClose(): void }) {
  const own = bindings.value.filter(({ isGlobal }) => isGlobal !== true)
  const everywhere = bindings.value.filter(({ isGlobal }) => isGlobal === true)
  const close: Binding = { key: 'Esc', label: t('keys.close'), run: onClose }
  return (
    <Dialog title={t('keys.title')} onClose={onClose} class="keys">
      {!areSingleKeysOn() && <p class="note">{t('keys.single')}</p>}
      {own.length > 0 && <Keys title={t('keys.here')} list={own} />}
      <Keys title={t('keys.everywhere')} list={[...everywhere, close]} />
    </Dialog>
  )
}

function Keys({ title, list }: { title: string; list: readonly Binding[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="facts">
        {list.map(({ key, label }) => (
          <>
            <dt>
              {key.split(/ |\+/).map((one) => (
                <kbd key={one}>{one === 'mod' ? 'Ctrl' : one}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </>
        ))}
      </dl>
    </section>
  )
}
