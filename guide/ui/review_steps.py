"""The steps of the Review page: pictures and clips of each from different recordings, and what can be changed."""

from __future__ import annotations

import streamlit as st

from guide.errors import InputError
from guide.teach.edits import LONGEST_WORDS, Drop, Language, Mark, MarkKind, Merge, Name, Say, Split
from guide.teach.videos import cut_clip
from guide.ui.review_bundle import ReviewedBundle, pictures
from guide.ui.shell import badge
from guide.ui.state import review as state
from guide.ui.state.folders import plain
from guide.ui.state.review import StepCard, StepPicture

CARDS_A_ROW = 3
BY_LOOK = "where its look changes"
LANGUAGES = {
    "": "as the browser", "ar": "العربية", "cs": "čeština", "da": "dansk", "de": "Deutsch", "en": "English",
    "es": "español", "fi": "suomi", "fr": "français", "hi": "हिन्दी", "hu": "magyar", "it": "italiano", "ja": "日本語",
    "ko": "한국어", "nb": "norsk", "nl": "Nederlands", "pl": "polski", "pt": "português", "ro": "română",
    "ru": "русский", "sv": "svenska", "tr": "Türkçe", "uk": "українська", "vi": "Tiếng Việt", "zh": "中文",
}  # fmt: skip


def draw(opened: ReviewedBundle) -> None:
    """Draws a card for each step."""
    cards = state.cards(opened.review, pictures(opened))
    shows_clips = False
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if opened.videos:
            shows_clips = st.toggle("Show clips instead of pictures", key="review_clips")
        _draw_language(opened)
    if not opened.videos:
        _ask_for_videos(opened)
    for first in range(0, len(cards), CARDS_A_ROW):
        for column, card in zip(st.columns(CARDS_A_ROW), cards[first : first + CARDS_A_ROW], strict=False):
            with column.container(border=True, height="stretch"):
                _draw_card(opened, card, cards, shows_clips)


def _draw_language(opened: ReviewedBundle) -> None:
    now = opened.review.result.language
    key = f"review_language_{opened.name}_{now}"
    known = list(dict.fromkeys((*LANGUAGES, now)))

    def save() -> None:
        opened.add(Language(str(st.session_state[key])))

    st.selectbox(
        "Language of the voice", known, index=known.index(now), key=key, width=240, on_change=save,
        format_func=lambda tag: f"Voice: {LANGUAGES.get(tag, tag)}", label_visibility="collapsed",
    )  # fmt: skip


def _ask_for_videos(opened: ReviewedBundle) -> None:
    with st.expander("Show clips: where are the videos of the demonstrations?", icon=":material/video_library:"):
        ids = [one.id for one in opened.review.demonstrations.items]
        text = st.text_input("Folder", value=opened.store.videos(), help=f"It should hold {ids[0]}.mp4 and so on.")
        if st.button("Look there") and text:
            opened.store.keep_videos(text)
            st.session_state["review_problem"] = f"No video of these recordings is in {text}: check the folder."
            st.rerun()


def _draw_card(opened: ReviewedBundle, card: StepCard, cards: tuple[StepCard, ...], shows_clips: bool) -> None:
    st.html(badge(card.label, card.colour))
    if not card.pictures:
        st.caption("No picture shows it yet: some are cut from the videos when the changes are learned.")
    with st.container(key=f"pictures-{card.number}", gap="small"):
        for first in range(0, len(card.pictures), 2):
            for column, picture in zip(st.columns(2, gap="small"), card.pictures[first : first + 2], strict=False):
                with column:
                    _draw_picture(opened, card, picture, shows_clips)
    st.caption(plain(", ".join(part for part in (card.seen, card.learned) if part)))
    if card.marks:
        st.caption(f":material/info: {plain(' and '.join(card.marks))}", help="Set by hand, under Change.")
    _draw_name(opened, card)
    with st.popover("Change", icon=":material/edit:", width="stretch"):
        _draw_changes(opened, card, cards)


def _draw_picture(opened: ReviewedBundle, card: StepCard, picture: StepPicture, shows_clips: bool) -> None:
    video = opened.videos.get(picture.recording)
    if shows_clips and video is not None:
        stem = opened.store.folder / "clips" / f"{picture.recording}-{picture.moment.at:.2f}".replace(".", "_")
        clip = cut_clip(video, picture.moment.at, stem)
        if clip is not None:
            st.video(str(clip), loop=True, autoplay=True, muted=True)
            st.caption(plain(picture.caption))
            return
    st.image(picture.data, width="stretch", alt=f"{card.label}, {picture.caption}", caption=plain(picture.caption))


def _draw_name(opened: ReviewedBundle, card: StepCard) -> None:
    # A new name is a new field, but no other edit is: what is being typed elsewhere must not be lost.
    key = f"review_name_{opened.name}_{card.number}_{card.name}"
    shown = "" if card.name == f"step {card.number}" else card.name

    def save() -> None:
        text = str(st.session_state.get(key, "")).strip()
        try:
            if text and text != card.name:
                opened.add(Name(card.number, text))
        except InputError as error:
            st.session_state["review_problem"] = str(error)

    st.text_input(
        f"Name of step {card.number}",
        value=shown,
        key=key,
        on_change=save,
        max_chars=80,
        placeholder="What is done here? Press Enter",
        label_visibility="collapsed",
    )


def _draw_changes(opened: ReviewedBundle, card: StepCard, cards: tuple[StepCard, ...]) -> None:
    key = f"{opened.name}_{card.number}_{len(opened.review.edits)}"
    _draw_words(opened, card)
    _draw_mark(opened, card, "optional", "May be left out", card.is_optional)
    _draw_mark(opened, card, "repeatable", "May be done again", card.is_repeatable)
    others = {other.label: other.number for other in cards if other.number != card.number}
    if others:
        other = st.selectbox("Is the same as", list(others), index=None, placeholder="another step", key=f"same_{key}")
        if other and st.button("Merge", icon=":material/merge:", key=f"merge_{key}"):
            opened.add(Merge((card.number, others[other])))
            st.rerun()
    _draw_split(opened, card, key)
    if len(cards) > 1 and st.button("It is no step: background", icon=":material/block:", key=f"drop_{key}"):
        opened.add(Drop(card.number))
        st.rerun()


def _draw_words(opened: ReviewedBundle, card: StepCard) -> None:
    key = f"review_say_{opened.name}_{card.number}_{card.say}"

    def save() -> None:
        opened.add(Say(card.number, str(st.session_state[key])))

    st.text_input(
        "The voice says", value=card.say, key=key, max_chars=LONGEST_WORDS, placeholder=card.name,
        help="In the place of the name: what to do, in a few words. Empty: the name.",
        on_change=save,
    )  # fmt: skip


def _draw_mark(opened: ReviewedBundle, card: StepCard, kind: MarkKind, words: str, is_on: bool) -> None:
    # When it is pressed, not when it differs: an edit that is refused would be tried again and again.
    is_shown_so = kind in card.by_demonstrations
    st.checkbox(
        words, value=is_on or is_shown_so, key=f"review_{kind}_{opened.name}_{card.number}_{is_on}_{is_shown_so}",
        disabled=is_shown_so, help="The demonstrations show it." if is_shown_so else None, on_change=_add,
        args=(opened, Mark(card.number, kind, not is_on)),
    )  # fmt: skip


def _add(opened: ReviewedBundle, edit: Mark) -> None:
    opened.add(edit)


def _draw_split(opened: ReviewedBundle, card: StepCard, key: str) -> None:
    where = st.selectbox("Is really two: split it", [BY_LOOK, *_shares()], index=0, key=f"where_{key}")
    if st.button("Split", icon=":material/call_split:", key=f"split_{key}"):
        with st.spinner("Looking for changes in its appearance" if where == BY_LOOK else "Splitting it"):
            opened.add(Split(card.number, None if where == BY_LOOK else _shares()[where]))
        st.rerun()


def _shares() -> dict[str, float]:
    return {
        "after a quarter of its time": 0.25,
        "after a third of its time": 1 / 3,
        "half way": 0.5,
        "after two thirds of its time": 2 / 3,
        "after three quarters of its time": 0.75,
    }
