/**
 * The names of two columns in the languages of the hosted pages, as spreadsheets, mail programs and
 * newsletter services write them: of the address, and of columns that are filled for people who left. Names
 * are compared without case, accents, blanks and punctuation, and with full-width letters as ordinary ones:
 * `E-Mail_Address` is `emailaddress`.
 *
 * A name with the beginning of a word of leaving, as `unsub_on`, is likely a name of leaving, and so is a name
 * with another usual meaning: `Data wypisu` is the day of a discharge, too, and `退订日期` that of a
 * cancellation.
 */
import { normalize } from '../../../../base/nfc.ts'

const NAMES: Record<string, string[]> = {
  en: ['Email', 'Email address', 'Email addresses', 'Email ID', 'Electronic mail'],
  nl: ['E-mailadres', 'E-mail adressen', 'Mailadres'],
  fr: [
    ...['Courriel', 'Adresse courriel', 'Adresse de courriel', 'Mél', 'Adresse mél'],
    ...['Adresse e-mail', 'Adresse mail', 'Adresse électronique', 'Adresse de messagerie'],
    'Courrier électronique',
  ],
  hi: ['ईमेल', 'ई-मेल', 'ईमेल पता', 'ई-मेल पता', 'ईमेल आईडी'],
  de: ['E-Mail-Adresse', 'E-Mail-Adressen', 'Mail-Adresse', 'Elektronische Post'],
  pt: [
    ...['Endereço de e-mail', 'Endereço e-mail', 'Endereço eletrônico', 'Endereço eletrónico'],
    ...['Correio eletrônico', 'Correio eletrónico', 'Correio electrónico'],
  ],
  bg: [
    ...['Имейл', 'Е-мейл', 'Имейл адрес', 'Електронна поща', 'Е-поща', 'Ел. поща'],
    ...['Адрес на електронна поща', 'Електронен адрес'],
  ],
  cs: ['E-mailová adresa', 'Adresa e-mailu', 'Elektronická pošta', 'Elektronická adresa'],
  pl: [
    ...['Adres e-mail', 'Adres e-mailowy', 'Adres mailowy', 'Poczta elektroniczna'],
    'Adres poczty elektronicznej',
  ],
  es: [
    ...['Correo electrónico', 'Correo', 'Correo-e', 'Dirección de correo electrónico'],
    ...['Dirección de correo', 'Dirección de e-mail', 'Dirección e-mail', 'Dirección electrónica'],
  ],
  it: [
    ...['Indirizzo e-mail', 'Indirizzo mail', 'Indirizzo di posta elettronica'],
    ...['Posta elettronica', 'Indirizzo elettronico', 'Indirizzo di e-mail'],
  ],
  'zh-TW': ['電子郵件', '電子郵件地址', '電子信箱', '電郵', 'Email 地址'],
  'zh-HK': ['電郵地址', '電子郵箱', '電郵'],
  'zh-CN': ['电子邮件', '电子邮件地址', '电子邮箱', '邮箱', '邮箱地址', '电邮', '邮件地址'],
  ja: [
    ...['メールアドレス', 'メール', 'Eメール', 'Eメールアドレス', '電子メール', 'メアド'],
    ...['電子メールアドレス', 'E-mailアドレス'],
  ],
  sv: ['E-post', 'E-postadress', 'E-postadresser', 'Mejl', 'Mejladress', 'Mailadress'],
  cy: ['E-bost', 'Cyfeiriad e-bost', 'Cyfeiriadau e-bost'],
}

const SIMPLIFIED_NAMES = new Set(Object.values(NAMES).flat().map(simplifyName))

export const ADDRESS_COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = NAMES

const LEFT_NAMES: Record<string, string[]> = {
  nl: [
    'Uitgeschreven',
    'Uitgeschreven op',
    'Uitschrijfdatum',
    'Afgemeld',
    'Afgemeld op',
    'Afmelddatum',
  ],
  fr: [
    ...['Désinscrit', 'Désinscrite', 'Désinscrit(e)', 'Désinscrit le', 'Désinscription'],
    ...['Date de désinscription', 'Désabonné', 'Désabonnée', 'Désabonné(e)', 'Désabonné le'],
    ...['Désabonnement', 'Date de désabonnement'],
  ],
  hi: ['अनसब्सक्राइब', 'अनसब्सक्राइब किया', 'सदस्यता समाप्त', 'सदस्यता रद्द'],
  de: [
    ...['Abgemeldet', 'Abgemeldet am', 'Abgemeldet seit', 'Abmeldung', 'Abmeldung am'],
    ...['Abmeldedatum', 'Abmeldezeitpunkt', 'Abbestellt', 'Abbestellt am', 'Newsletter abgemeldet'],
  ],
  pt: [
    ...['Descadastrado', 'Descadastrado em', 'Data de descadastro', 'Cancelou a inscrição'],
    ...['Inscrição cancelada', 'Desinscrito', 'Desinscrito em', 'Subscrição cancelada'],
  ],
  bg: ['Отписан', 'Отписан на', 'Отписване', 'Дата на отписване'],
  cs: ['Odhlášen', 'Odhlášeno', 'Odhlášen dne', 'Odhlášení', 'Datum odhlášení'],
  pl: ['Wypisany', 'Wypisany z newslettera'],
  es: [
    ...['Desuscrito', 'Desuscripto', 'Desuscrito el', 'Fecha de desuscripción', 'Dado de baja'],
    ...[
      'Cancelación de suscripción',
      'Suscripción cancelada',
      'Fecha de cancelación de suscripción',
    ],
  ],
  it: [
    ...['Disiscritto', 'Disiscritto il', 'Disiscrizione', 'Data di disiscrizione'],
    ...['Data disiscrizione', 'Iscrizione annullata'],
  ],
  'zh-TW': ['取消訂閱', '取消訂閱時間', '取消訂閱日期', '已退訂'],
  'zh-CN': ['取消订阅', '取消订阅时间', '取消订阅日期', '已退订'],
  ja: ['配信停止', '配信停止日', '配信停止日時', '購読解除', '購読解除日', '購読停止'],
  sv: [
    'Avregistrerad',
    'Avregistrerad den',
    'Avprenumererad',
    'Avanmäld',
    'Avslutad prenumeration',
  ],
  cy: ['Wedi dad-danysgrifio', 'Dad-danysgrifiwyd'],
}

const BEGINNINGS = [
  ...[
    'unsub',
    'opt out',
    'opted out',
    'afgemeld',
    'uitgeschrev',
    'désinscri',
    'désabonn',
    'abgemeld',
  ],
  ...[
    'abmeld',
    'abbestell',
    'descadastr',
    'desinscri',
    'desuscri',
    'disiscri',
    'odhlaš',
    'wypisan',
    'wypisu',
    'ausgetragen',
    'austragung',
  ],
  ...[
    'avprenum',
    'avregistr',
    'отписа',
    '退订',
    '退訂',
    '取消订阅',
    '取消訂閱',
    '購読解除',
    '配信停止',
  ],
].map(simplifyName)

/**
 * Names of columns that are filled for everybody, such as a link to unsubscribe, or that are about
 * other channels than email.
 */
const OTHER_MEANINGS =
  /sms|whatsapp|push|phone|telefon|mobil|(?:url|uri|link|lien|token|hash|key|page|email|count|total|id)$/

const SIMPLIFIED_LEFT_NAMES = new Set(Object.values(LEFT_NAMES).flat().map(simplifyName))

export const LEFT_COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = LEFT_NAMES

/** Whether a header names the address column, in a file without a column `email`. */
export function isAddressColumn(header: string): boolean {
  return SIMPLIFIED_NAMES.has(simplifyName(header))
}

/** Whether a header is the name of a column that is filled for people who left. */
export function isNameOfLeaving(header: string): boolean {
  return SIMPLIFIED_LEFT_NAMES.has(simplifyName(header))
}

/** Whether a header may be the name of a column that is filled for people who left. */
export function isLikeLeaving(header: string): boolean {
  const name = simplifyName(header)
  return BEGINNINGS.some((begin) => name.includes(begin)) && !OTHER_MEANINGS.test(name)
}

/** Returns a name in the form in which names are compared. */
function simplifyName(text: string): string {
  return normalize(text, 'NFKD')
    .toLowerCase()
    .replace(/[\p{M}\p{P}\p{Z}\p{S}\p{C}]/gu, '')
}
