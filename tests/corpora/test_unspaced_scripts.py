"""Text in a script without spaces is recognised unless it is segmented."""

import pytest

from corpora.task import Pair
from corpora.unspaced_scripts import SegmentationCheck
from task.languages import LanguagePair

WARNING = (
    "the text in {} has no spaces between words, but scores count tokens that spaces separate: segment it into words"
    " first, and import it with banditmt corpus import --tokenised"
)


def warning(*pairs, languages=("en", "xx")):
    check = SegmentationCheck()
    for pair in pairs:
        check.add(Pair(*pair))
    return check.warning(LanguagePair(*languages))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "这款红色棉质连衣裙非常适合夏天穿着。"),
        ("zh", "红色手机保护壳 XL"),
        ("ja", "この赤いワンピースは夏にぴったりです。"),
        ("th", "ชุดเดรสสีแดงนี้เหมาะสำหรับฤดูร้อน"),
        ("lo", "ຊຸດສີແດງນີ້ເໝາະສຳລັບລະດູຮ້ອນ"),
        ("km", "រ៉ូបពណ៌ក្រហមនេះសាកសមសម្រាប់រដូវក្តៅ"),
        ("my", "ဤအနီရောင်ဂါဝန်သည်နွေရာသီအတွက်သင့်တော်သည်။"),
    ],
)
def test_unsegmented_text_gives_a_warning(language, text):
    assert warning(("red dress", text), languages=("en", language)) == WARNING.format(language)
    assert warning((text, "red dress"), languages=(language, "en")) == WARNING.format(language)


@pytest.mark.parametrize(
    "text",
    [
        "这 款 红色 棉质 连衣裙 非常 适合 夏天 穿着 。",
        "この 赤い ワンピース は 夏 に ぴったり です 。",
        "ชุด เดรส สี แดง นี้ เหมาะ สำหรับ ฤดู ร้อน",
        "រ៉ូប ពណ៌ ក្រហម នេះ សាកសម សម្រាប់ រដូវ ក្តៅ",
        "이 빨간 원피스는 여름에 잘 어울립니다.",
        "это красное платье идеально подходит для лета.",
        "هذا الفستان الأحمر مثالي لفصل الصيف",
        "Das rote Kleid „夏天穿着連衣裙“ ist ideal für den Sommer, und das sagt auch der Hersteller.",
        "",
    ],
)
def test_text_with_spaces_gives_none(text):
    assert warning(("red dress", text)) is None


def test_two_sides_give_one_warning():
    pair = ("这款红色棉质连衣裙非常适合夏天穿着", "この赤いワンピースは夏にぴったりです")
    assert warning(pair, languages=("zh", "ja")) == WARNING.format("zh and ja")


def test_the_whole_text_counts_not_its_beginning():
    segmented, unsegmented = ("a", "红色 的 裙子"), ("a", "这款红色棉质连衣裙非常适合夏天穿着")
    assert warning(*[segmented] * 9, *[unsegmented] * 9, languages=("en", "zh")) == WARNING.format("zh")
    assert warning(*[unsegmented] * 9, *[segmented] * 9, languages=("en", "zh")) == WARNING.format("zh")
